"""页面：登录，以及不是由页面发出的请求。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "page.link_used_up": Message("这个链接已经用过，或已超过 5 分钟", "重新运行 `tarmac web` 获取新链接"),
    "page.too_many_attempts": Message("此地址的错误登录次数过多", "请稍后再试"),
    "page.not_logged_in": Message("尚未登录", "在队列所在的机器上运行 `tarmac web` 登录"),
    "page.foreign_host": Message("{host:quoted} 不是本页面的地址", "请打开 `tarmac web` 输出的地址"),
    "page.foreign_origin": Message("该请求来自其他网站：{origin}", "请打开 `tarmac web` 输出的地址"),
    "page.wrong_token": Message("该请求不是由本页面发出的", "刷新页面后重试"),
    "page.not_served": Message("当前控制器没有提供页面服务", "先运行 `tarmac stop`，再运行 `tarmac web`"),
    "page.not_installed": Message(
        "页面所需的 JavaScript 包没有安装", "在源码目录中运行 `make install`，需要能访问 npm registry"
    ),
    "page.other_port": Message("页面已在端口 {port} 上提供服务", "去掉 --port，或先运行 `tarmac stop`"),
    "page.cannot_listen": Message("页面无法{port:around 在端口 | 上}提供服务：{error}", "用 --port 换一个端口"),
}
