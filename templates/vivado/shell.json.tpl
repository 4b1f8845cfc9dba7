{
    "shell_type": "XRT_FLAT",
    "num_slots": "1"
}
