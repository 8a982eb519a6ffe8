"""Does a request fit on a GPU, on a node, on which nodes? Knows neither the queue nor whose turn it is."""
