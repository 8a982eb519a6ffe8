"""The GPUs of this machine: read by a probe process, watched for health."""
