"""How four features become one score: the net, exact contributions, signatures, tables of features."""
