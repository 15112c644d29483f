"""layout: nodes take the order of axes that their device computes fastest. `register` has the steps."""
