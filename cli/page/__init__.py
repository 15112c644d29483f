"""The page that `numlite explore` writes: what it shows, as data, and the programs that draw it."""
