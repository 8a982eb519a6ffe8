"""The types of requests and answers: they validate, encode and describe the API."""
