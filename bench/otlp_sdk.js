// SPDX-License-Identifier: ISC
// Makes spans with OpenTelemetry's SDK, as bench/export.py describes them, and serializes them in batches.
'use strict'
const { BasicTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-base')
const { JsonTraceSerializer, ProtobufTraceSerializer } = require('@opentelemetry/otlp-transformer')

const count = Number(process.argv[2])
const serializer = process.argv[3] === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer
let bytes = 0
let exported = 0
const exporter = {
  export (spans, done) {
    bytes += serializer.serializeRequest(spans).length
    exported += spans.length
    done({ code: 0 })
  },
  shutdown: () => Promise.resolve(),
  forceFlush: () => Promise.resolve()
}
const processor = new BatchSpanProcessor(exporter, { maxQueueSize: 4096, maxExportBatchSize: 512 })
const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('bench')

async function main () {
  let last
  for (let i = 0; i < count; i++) {
    const span = tracer.startSpan(`request ${i % 100}`, last ? { links: [{ context: last, attributes: { 'weft.edge': 'signal' } }] } : {})
    span.setAttributes({ 'weft.task': i, 'weft.kind': 'bind', 'weft.outcome': 'fulfilled', 'weft.running_ns': 0 })
    span.addEvent('parsed')
    span.end()
    last = span.spanContext()
    if (i % 2048 === 2047) await processor.forceFlush()
  }
  await processor.forceFlush()
  if (exported !== count) throw new Error(`only ${exported} spans were exported`)
  console.log(bytes)
}
main()
