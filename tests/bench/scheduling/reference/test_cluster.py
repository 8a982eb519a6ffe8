from bench.scheduling.reference.cluster import Cluster, Job, Place, Plan


def a_cluster(*ends: list[float]) -> Cluster:
    """Nodes with four GPUs. An end of 0: the GPU is free."""
    cluster, numbers = Cluster(len(ends), 4), iter(range(100))
    for node, of_node in enumerate(ends):
        for gpu, end in enumerate(of_node):
            if end:
                job = Job(number=next(numbers), submit_s=0.0, owner="ann", gpus=1, duration_s=end, limit_s=end)
                cluster.book(job, Place(node, (gpu,)), end)
    return cluster


def test_a_job_goes_to_the_fullest_node_that_fits_and_its_lowest_gpus():
    cluster = a_cluster([0, 0, 0, 0], [5, 0, 5, 0], [5, 5, 5, 0])
    assert cluster.place(1) == Place(2, (3,))
    assert cluster.place(2) == Place(1, (1, 3))
    assert cluster.place(3) == Place(0, (0, 1, 2))
    assert a_cluster([5, 0, 0, 0]).place(4) is None


def test_a_job_stays_off_the_gpus_of_a_plan():
    plan = Plan(1, frozenset({1, 3}), 5.0)
    assert a_cluster([0, 0, 0, 0], [5, 0, 5, 0]).place(1, plan) == Place(0, (0,))


def test_a_plan_takes_the_node_that_is_free_first_and_the_gpus_that_come_free_last():
    assert a_cluster([9, 9, 9, 9], [0, 7, 7, 8]).plan(2) == Plan(1, frozenset({1, 2}), 7.0)
    assert a_cluster([0, 7, 6, 8], [0, 7, 7, 8]).plan(2) == Plan(0, frozenset({0, 2}), 6.0)


def test_released_gpus_are_free_again():
    cluster = a_cluster([5, 5, 5, 5])
    cluster.release(Job(number=2, submit_s=0.0, owner="ann", gpus=1, duration_s=5.0, limit_s=5.0))
    assert cluster.place(1) == Place(0, (2,))
