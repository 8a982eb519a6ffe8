"""What every process of Tarmac shares. Standard library only, Python 3.8 and up; imports nothing else of Tarmac."""
