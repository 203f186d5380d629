// SPDX-License-Identifier: ISC
// OpenTelemetry's own code for otlp_official.py:
//   decode FILE     reads a file of protobuf with the official schema, and prints the spans
//   request PORT    is the parent and the child of a program that listens there, and prints both spans
'use strict'
const fs = require('fs')
const http = require('http')
const path = require('path')
const from = name => require(path.join(process.env.WEFT_NPM, 'node_modules', name))

const hex = bytes => Buffer.from(bytes || []).toString('hex')

function decode (file) {
  const root = from('@opentelemetry/otlp-transformer/build/src/generated/root.js')
  const { TracesData } = root.opentelemetry.proto.trace.v1
  const bytes = fs.readFileSync(file)
  const message = TracesData.decode(bytes)
  const spans = message.resourceSpans.flatMap(resource => resource.scopeSpans.flatMap(scope => scope.spans)).map(span => ({
    name: span.name,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    startTimeUnixNano: String(span.startTimeUnixNano),
    endTimeUnixNano: String(span.endTimeUnixNano),
    links: span.links.map(link => hex(link.spanId)),
    events: span.events.map(event => event.name),
    status: span.status ? span.status.code || 0 : 0
  }))
  // Fields that the schema does not have would be left out of what is encoded again.
  console.log(JSON.stringify({ problem: TracesData.verify(message), size: bytes.length, again: TracesData.encode(message).finish().length, spans }))
}

function request (port) {
  const api = from('@opentelemetry/api')
  const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = from('@opentelemetry/sdk-trace-base')
  const { W3CTraceContextPropagator } = from('@opentelemetry/core')
  const exporter = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test')
  const propagator = new W3CTraceContextPropagator()
  const outer = tracer.startSpan('outer')
  const server = http.createServer((message, answer) => {
    const parent = propagator.extract(api.ROOT_CONTEXT, message.headers, api.defaultTextMapGetter)
    tracer.startSpan('inner', {}, parent).end()
    answer.end('done\n')
  })
  server.listen(0, '127.0.0.1', () => {
    const headers = { 'x-port': server.address().port }
    propagator.inject(api.trace.setSpan(api.ROOT_CONTEXT, outer), headers, api.defaultTextMapSetter)
    http.get({ host: '127.0.0.1', port, headers }, answer => {
      answer.resume()
      answer.on('end', () => {
        outer.end()
        server.close()
        console.log(JSON.stringify(exporter.getFinishedSpans().map(span => ({
          name: span.name,
          traceId: span.spanContext().traceId,
          spanId: span.spanContext().spanId,
          parentSpanId: (span.parentSpanContext || { spanId: '' }).spanId
        }))))
      })
    })
  })
}

const [what, value] = process.argv.slice(2)
what === 'decode' ? decode(value) : request(Number(value))
