"""Rules of constant folding: each looks at one node, and changes the graph if it applies."""
