"""arithmetic: fewer and cheaper nodes that compute the same. `register` has the stages and their order."""
