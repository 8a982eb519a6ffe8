"""请求的字段应该是什么，以及没有接口能处理的请求。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "report.wrong_span": Message("报表的开始时间晚于结束时间", "用 `since` 指定一个更早的时间"),
    "report.moment_and_day": Message("{moment} 和 {day} 不能同时使用", "去掉其中一个"),
    "report.no_such_day": Message("{day} 不是日期", "请写成 2026-11-30 的形式"),
    "request.unknown_address": Message("该地址不存在", "所有地址见 GET /api/v1/openapi.json"),
    "request.wrong_method": Message("该地址不支持 {method}", "请使用 {allowed:or}"),
    "request.not_a_version": Message("Tarmac-Api: {spoken:quoted} 不是版本号", "请发送 {api}"),
    "request.newer_client": Message(
        "客户端使用 API {spoken}，而控制器（Tarmac {version}）使用 API {api}",
        "运行 `tarmac stop`；下一条命令会启动新的控制器，运行中的任务不受影响",
    ),
    "request.wrong_fields": Message("{wrong:join ；}", "所有字段见 docs/api.md"),
    "request.not_json": Message("请求体不是有效的 JSON：{error}", "请发送一个 JSON 对象"),
    "request.too_deep": Message("请求体嵌套过深", "请减少对象和列表的层数"),
    "request.not_utf8": Message("请求体不是 UTF-8", "请用 UTF-8 编码发送 JSON"),
    "request.wrong_key": Message(
        "Idempotency-Key 的长度必须是 1 到 {most} 个字符", "为每个请求生成一个新值，例如 UUID"
    ),
    "request.not_declared_bytes": Message(
        "请求的内容类型必须是 application/octet-stream",
        "发送字节时请加上请求头 Content-Type: application/octet-stream",
    ),
    "request.not_declared_json": Message(
        "请求体没有声明为 application/json", "请加上请求头 Content-Type: application/json"
    ),
    "request.repeated_parameter": Message("参数 {name:quoted} 重复出现", "每个参数只给一次"),
    "request.too_many_parameters": Message("查询参数超过 {most} 个", "每个参数只给一次"),
    "request.not_http": Message("这不是 HTTP 请求", "见 docs/api.md"),
    "request.head_too_large": Message(
        "地址和请求头超过 {most} 字节，或请求头超过 100 个", "用范围来指定任务，例如 1-500"
    ),
    "request.too_slow": Message("请求没有及时送达", "请重新发送"),
    "request.too_large": Message("请求体超过 {most} 字节", "减少一次提交的任务数"),
    # 字段
    "field.missing": Message("缺少 {field}"),
    "field.unknown": Message("{field} 不是该请求的字段"),
    "field.unknown_parameter": Message("{name} 不是该地址的参数，可用的参数：{known}"),
    "field.must_be": Message("{field} 应为：{allowed}"),
    "field.each_must_be": Message("{field} 的每一项应为：{allowed}"),
    "field.body": Message("请求体"),
    "field.of_job": Message("本次提交的第 {number} 个任务"),
    "field.inside": Message("{place}：{field}"),
    "field.integer": Message("{bounds}整数"),
    "field.number": Message("{bounds}数"),
    "field.duration": Message("{bounds}时长，以秒为单位"),
    "field.text": Message("{length}字符串"),
    "field.flag": Message("true 或 false"),
    "field.choice": Message("{choices:or}"),
    "field.list": Message("{length}列表"),
    "field.object": Message("一个对象，其字段见 docs/api.md"),
    "bounds.above": Message("大于 {least} 的"),
    "bounds.above_to": Message("大于 {least} 且不超过 {most} 的"),
    "bounds.from_to": Message("{least} 到 {most} 的"),
    "bounds.duration_above_to": Message("大于 {least:duration} 且不超过 {most:duration} 的"),
    "bounds.duration_from_to": Message("{least:duration} 到 {most:duration} 的"),
    "bounds.least": Message("不小于 {least} 的"),
    "bounds.most": Message("不超过 {most} 的"),
    "length.text_least": Message("至少 {least} 个字符的"),
    "length.text_most": Message("最多 {most} 个字符的"),
    "length.text_from_to": Message("{least} 到 {most} 个字符的"),
    "length.list_least": Message("至少 {least} 项的"),
    "length.list_most": Message("最多 {most} 项的"),
    "length.list_from_to": Message("{least} 到 {most} 项的"),
}
