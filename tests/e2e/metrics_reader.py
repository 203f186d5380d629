# SPDX-License-Identifier: ISC
"""Reads the formats of Prometheus by the reader that Prometheus's people wrote, from standard input. Run by the Python that has
it, with `openmetrics` or `prometheus`; prints a line of JSON for each family."""
import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

READERS = {'openmetrics': openmetrics, 'prometheus': prometheus}

for family in READERS[sys.argv[1]](sys.stdin.buffer.read().decode('utf-8')):
    print(json.dumps({'name': family.name, 'type': family.type, 'unit': family.unit, 'help': family.documentation,
                      'samples': [[sample.name, sample.labels, sample.value] for sample in family.samples],
                      'exemplars': [[sample.name, sample.labels, sample.exemplar.labels, sample.exemplar.value, float(sample.exemplar.timestamp)]
                                    for sample in family.samples if sample.exemplar]}))
