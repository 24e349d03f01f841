"""How gunicorn serves the API; the stream process overrides the kind and number of its workers on the command line."""

worker_class = "gthread"
workers = 2
threads = 8
keepalive = 75
"""Seconds: longer than the 60 s after which proxies usually give a connection up."""

timeout = 60
graceful_timeout = 5
max_requests = 0
limit_request_line = 8190
limit_request_fields = 60
accesslog = None
errorlog = "-"
control_socket_disable = True
proc_name = "rookery"
