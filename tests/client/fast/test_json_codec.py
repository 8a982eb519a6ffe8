import json

import pytest

from tarmac.client.fast.json_codec import decode, encode


def test_the_fast_json_codec_equals_the_json_module() -> None:
    value = {"a": [1, 2.5, None, True, "é\n\x00🚀"], "b": {}, "c": [[]]}
    assert json.loads(encode(value)) == value
    assert decode(f" {json.dumps(value)} \n") == value


@pytest.mark.parametrize("text", ["", "{", "{} {}", "nonsense", '{"a": }'])
def test_invalid_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode(text)
