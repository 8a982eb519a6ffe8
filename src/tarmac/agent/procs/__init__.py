"""The processes of an attempt: finding, containing and watching them."""
