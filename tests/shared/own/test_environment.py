from tarmac.shared.own.environment import own_environment


def test_tarmac_keeps_what_it_needs_and_nothing_else() -> None:
    needed = {
        "PATH": "/bin",
        "HOME": "/home/ann",
        "LC_ALL": "C.UTF-8",
        "XDG_STATE_HOME": "/state",
        "TARMAC_HOME": "/t",
        "LD_LIBRARY_PATH": "/opt/cuda/lib64",
        "ROCM_PATH": "/opt/rocm",
        "PYTHONPATH": "/src",
    }
    secret = {"AWS_SECRET_ACCESS_KEY": "x", "WANDB_API_KEY": "x", "http_proxy": "http://ann:x@proxy", "SECRET": "x"}
    assert own_environment({**needed, **secret}) == needed


def test_variables_of_a_job_do_not_reach_a_controller_that_it_starts() -> None:
    of_a_job = (
        "TARMAC_STATE",
        "TARMAC_JOB_ID",
        "TARMAC_MARK",
        "TARMAC_ARRAY_ID",
        "CUDA_VISIBLE_DEVICES",
        "MASTER_PORT",
    )
    assert own_environment(dict.fromkeys((*of_a_job, "ROCR_VISIBLE_DEVICES"), "0")) == {}
