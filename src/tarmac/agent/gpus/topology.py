"""How near NVIDIA GPUs are to each other: 5 NVLink, 4 same board or switch, 3 same bridge, 2 same socket, 1 far."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

NVLINK = 5
_MOST_LINKS = 36
_SWITCH = "switch"

Links = Dict[str, Dict[str, int]]  # uuid → other uuid → nearness


def read_links(nvml: Any, gpus: List[Tuple[str, Any]], at: Callable[[str], None]) -> Links:
    """`gpus` has uuids and handles. `at` is called before each GPU is queried. Unknown links are left out."""
    links: Links = {uuid: {} for uuid, _ in gpus}
    for position, (uuid, handle) in enumerate(gpus):
        at(uuid)
        for other, other_handle in gpus[position + 1 :]:
            near = _near(nvml, handle, other_handle)
            if near is not None:
                links[uuid][other] = links[other][uuid] = near
    _add_nvlinks(nvml, gpus, links, at)
    return links


def _near(nvml: Any, first: Any, second: Any) -> Optional[int]:
    try:
        level = nvml.nvmlDeviceGetTopologyCommonAncestor(first, second)
    except nvml.NVMLError:
        return None
    if level <= nvml.NVML_TOPOLOGY_SINGLE:
        return 4
    if level <= nvml.NVML_TOPOLOGY_HOSTBRIDGE:
        return 3
    return 2 if level <= nvml.NVML_TOPOLOGY_NODE else 1


def _add_nvlinks(nvml: Any, gpus: List[Tuple[str, Any]], links: Links, at: Callable[[str], None]) -> None:
    by_address = {_address(nvml, handle): uuid for uuid, handle in gpus}
    switched = []
    for uuid, handle in gpus:
        at(uuid)
        for remote in _remotes(nvml, handle):
            other = by_address.get(remote)
            if remote == _SWITCH:
                switched.append(uuid)
            elif other is not None and other != uuid:
                links[uuid][other] = links[other][uuid] = NVLINK
    for uuid in switched:
        for other in switched:
            if other != uuid:
                links[uuid][other] = NVLINK


def _remotes(nvml: Any, handle: Any) -> List[str]:
    """Return the PCI addresses of the GPUs at the other ends, "switch" for a switch; each once."""
    found: List[str] = []
    for link in range(_MOST_LINKS):
        try:
            if not nvml.nvmlDeviceGetNvLinkState(handle, link):
                continue
            remote = _remote(nvml, handle, link)
        except nvml.NVMLError:
            break  # no such link, so no further ones
        if remote not in found:
            found.append(remote)
    return found


def _remote(nvml: Any, handle: Any, link: int) -> str:
    try:
        if nvml.nvmlDeviceGetNvLinkRemoteDeviceType(handle, link) == nvml.NVML_NVLINK_DEVICE_TYPE_SWITCH:
            return _SWITCH
    except nvml.NVMLError:
        pass  # the driver is too old to say
    return _text(nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link).busId)


def _address(nvml: Any, handle: Any) -> str:
    try:
        return _text(nvml.nvmlDeviceGetPciInfo(handle).busId)
    except nvml.NVMLError:
        return ""


def _text(value: Any) -> str:
    return (value.decode() if isinstance(value, bytes) else str(value)).lower()
