"""What Tarmac asks of Linux: processes, sockets, clocks and system calls. Python 3.8."""
