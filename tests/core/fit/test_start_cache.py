"""What is remembered about starts stays bounded, however many different requests come."""

from tarmac.core.fit.start_cache import MAX_ORDERS, MAX_REQUESTS, StartCache
from tarmac.core.fit.touched_nodes import TouchedNodes
from tarmac.core.model.job import Request


def test_the_oldest_of_many_different_requests_are_forgotten() -> None:
    cache = StartCache(TouchedNodes())
    for number in range(2 * MAX_REQUESTS):
        request = Request(gpus=2, min_gpu_memory_bytes=number)
        cache.order_of(request)
        cache.starts_of(request)
        cache.alike_of(request)["model", 0] = True
    assert (len(cache.orders), len(cache.by_request), len(cache.alike)) == (MAX_ORDERS, MAX_REQUESTS, MAX_REQUESTS)
    assert cache.alike_of(request) == {("model", 0): True}
