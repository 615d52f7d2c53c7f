"""A client of the Model Context Protocol that knows nothing of any SDK: it
writes the protocol's own JSON and says what came back, a line each.

Over stdin and stdout (what it saw goes to stderr), or, with the URL of /mcp and
a token in TOKEN, over HTTP.
"""

import json
import os
import re
import sys
import urllib.request


class Stdio:
    def send(self, message):
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def ask(self, message):
        self.send(message)
        while True:
            line = sys.stdin.readline()
            if not line:
                sys.exit("the server hung up")
            answer = json.loads(line)
            if answer.get("id") == message["id"]:
                return answer


class Http:
    def __init__(self, url):
        self.url = url

    def send(self, message):
        request = urllib.request.Request(self.url, json.dumps(message).encode(), {
            "Authorization": "Bearer " + os.environ["TOKEN"],
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        })
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def ask(self, message):
        return json.loads(self.send(message))


wire = Http(sys.argv[1]) if len(sys.argv) > 1 else Stdio()
count = 0


def ask(method, **params):
    global count
    count += 1
    answer = wire.ask({"jsonrpc": "2.0", "id": count, "method": method, "params": params})
    if "result" not in answer:
        sys.exit("%s: %s" % (method, answer))
    return answer["result"]


def call(tool, **arguments):
    result = ask("tools/call", name=tool, arguments=arguments)
    text = result["content"][0]["text"]
    mark = re.search(r"^===== data ([0-9a-f]{32}) =====$", text, re.M).group(1)
    inside = re.search(r"===== data %s =====\n(.*)===== end of data %s =====" % (mark, mark), text, re.S).group(1)
    return [json.loads(line) for line in inside.splitlines()], result.get("isError", False)


def say(*what):
    print(*what, file=sys.stderr)


hello = ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "raw", "version": "1"})
say("server", hello["serverInfo"]["name"], hello["protocolVersion"])
wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
say("tools", *sorted(t["name"] for t in ask("tools/list")["tools"]))
found, _ = call("session_list")
say("list", *[s["id"] for s in found])
found, _ = call("session_search", query="environment")
say("search", *["%s/%d" % (h["session"], h["seq"]) for h in found])
found, _ = call("session_read", session="s1", limit=3)
say("read", *[m["seq"] for m in found])
found, failed = call("session_read", session="nowhere")
say("nowhere", failed)
say("resource", *[r["uri"] for r in ask("resources/list")["resources"]])
text = ask("resources/read", uri="skein://session/s1")["contents"][0]["text"]
say("redacted", "[redacted:password]" in text, "hunter2" in text)
