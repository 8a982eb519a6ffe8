"""Reads the package indexes that pip is configured for, and downloads one pure-Python wheel without pip."""

import configparser
import os
import re
import ssl
import urllib.parse
import urllib.request


def indexes():
    """(url, cert) pairs, in pip's order. No index is built in: the machine's settings decide which one to trust."""
    settings = read()
    urls = settings.get("index-url", "").split() + settings.get("extra-index-url", "").split()
    return [(url.rstrip("/") + "/", settings.get("cert")) for url in urls]


def read():
    """pip's settings: its files, of which later ones win, then its environment variables."""
    settings = {}
    for path in files():
        parser = configparser.RawConfigParser()
        try:
            parser.read(path)
        except configparser.Error:
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                settings.update(parser.items(section))
    for name in ("index-url", "extra-index-url", "cert"):
        value = os.environ.get("PIP_" + name.upper().replace("-", "_"))
        if value:
            settings[name] = value
    return settings


def files():
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    system = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    found = [os.path.join(d, "pip", "pip.conf") for d in system.split(":")] + ["/etc/pip.conf"]
    found += [os.path.join(home, ".pip", "pip.conf"), os.path.join(config, "pip", "pip.conf")]
    named = os.environ.get("PIP_CONFIG_FILE")
    return [*found, named] if named else found


def download_newest(package, index, cert, folder):
    """The path of the newest final py3-none-any wheel, or None when this index has none or cannot be read."""
    page_url = urllib.parse.urljoin(index, package + "/")
    try:
        page = fetch(page_url, cert).decode()
        links = re.findall(r'href="((?:[^"#]*/)?%s-([0-9.]+)-py3-none-any\.whl)[^"]*"' % package, page)
        if not links:
            return None
        link, _ = max(links, key=lambda found: [int(n) for n in found[1].strip(".").split(".")])
        path = os.path.join(folder, os.path.basename(link))
        with open(path, "wb") as f:
            f.write(fetch(urllib.parse.urljoin(page_url, link), cert))
    except (OSError, ValueError):
        return None
    return path


def fetch(url, cert):
    if url.startswith("file:") and url.endswith("/"):
        url += "index.html"
    context = ssl.create_default_context(cafile=cert) if cert and url.startswith("https:") else None
    with urllib.request.urlopen(url, timeout=60, context=context) as answer:
        return answer.read()
