"""The page and the API behind it, as browsers use them."""
