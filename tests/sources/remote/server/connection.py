# SPDX-License-Identifier: Apache-2.0
"""One connection: reads requests, lets the plan spoil the right answers, sends and logs them."""

import json
import os
import time

import delivery
import files
from plan import Plan
from request import BadRequest, Request, RequestReader


class Site:
    """What all connections share."""

    def __init__(self, folder, users, plan, log):
        self.folder, self.users, self.plan, self.log = os.path.realpath(folder), users, plan, log

    def control(self, request):
        """The response to /_control: takes another plan."""
        if request.method != "POST":
            return files.text_response(405, "only POST\n", {"Allow": "POST"})
        try:
            facts = json.loads(request.body)
            plan = Plan(facts)
        except ValueError as error:
            return files.text_response(400, f"{error}\n")
        if isinstance(facts, dict) and facts.get("reset"):
            self.log.reset()
        else:
            plan.take_counters(self.plan)
        self.plan = plan
        return files.text_response(200, "{}\n", {"Content-Type": "application/json"})

    def log_response(self, request):
        if request.method != "GET":
            return files.text_response(405, "only GET\n", {"Allow": "GET"})
        facts = self.log.facts(totals_only=request.query == "totals")
        return files.text_response(200, json.dumps(facts) + "\n", {"Content-Type": "application/json"})


class Unlogged:
    """Stands for the log's entry of a request that isn't logged."""
    bytes_sent = 0

    def finish(self, _):
        pass


class Connection:
    def __init__(self, site, number, sock):
        self.site, self.number, self.sock = site, number, sock
        self.reader = RequestReader(sock)
        self.delivery = delivery.Delivery(sock)

    def serve(self):
        """Serves until one side ends the connection."""
        try:
            while self.serve_next():
                pass
        except (OSError, delivery.Ended):
            pass
        finally:
            self.site.log.remove_connection(self.number)
            delivery.close(self.sock)

    def serve_next(self):
        """Serves one request. Returns whether the connection goes on."""
        try:
            request = self.reader.next()
        except BadRequest as error:
            response = files.text_response(error.args[0], "the request can't be read\n", {"Connection": "close"})
            response.finish(Request("GET", "", "", "", {}))
            self.delivery.send(response, Unlogged(), 0)
            return False
        if request is None:
            return False
        if request.path in ("/_control", "/_log"):
            response = self.site.control(request) if request.path == "/_control" else self.site.log_response(request)
            response.finish(request)
            self.delivery.send(response, Unlogged(), 0)
            return response.keeps_alive
        entry = self.site.log.add(self.number, self.sock, request, time.monotonic())
        try:
            return self.serve_logged(request, entry)
        finally:
            entry.finish(None)

    def serve_logged(self, request, entry):
        plan = self.site.plan
        response = files.answer(request, self.site.folder, self.site.users)
        try:
            response.delay = plan.latency
            entry.rules = plan.choose(request, response)
            for number in entry.rules:
                plan.rules[number].apply(response, request)
            response.finish(request)
            self.delivery.send(response, entry, plan.bytes_per_s)
        finally:
            if response.file:
                response.file.close()
        return response.keeps_alive
