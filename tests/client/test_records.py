"""The client's records have the fields that the API serves, and no others."""

import pytest
from msgspec import Struct

from tarmac.api.schemas.gpus import GpuView
from tarmac.api.schemas.job import WholeJobView
from tarmac.api.schemas.settings import SettingView
from tarmac.client.records import Gpu, Job, Record, Setting


@pytest.mark.parametrize(("record", "view"), [(Job, WholeJobView), (Gpu, GpuView), (Setting, SettingView)])
def test_a_record_has_the_fields_of_its_view(record: type[Record], view: type[Struct]) -> None:
    assert set(record.__annotations__) == set(view.__struct_fields__)
