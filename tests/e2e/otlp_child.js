// SPDX-License-Identifier: ISC
// Answers one request: asks the server at its header X-Port meanwhile, as `otlp_official.js request` expects it.
//   otlp_child.js        sends no header of its own
//   otlp_child.js sdk    is traced by OpenTelemetry's SDK, and prints the span of the request that it sends
'use strict'
const http = require('http')
const path = require('path')
const from = name => require(path.join(process.env.WEFT_NPM, 'node_modules', name))

function begin (headers) {
  const api = from('@opentelemetry/api')
  const { BasicTracerProvider } = from('@opentelemetry/sdk-trace-base')
  const { W3CTraceContextPropagator } = from('@opentelemetry/core')
  const tracer = new BasicTracerProvider().getTracer('child')
  const propagator = new W3CTraceContextPropagator()
  const parent = propagator.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter)
  const span = tracer.startSpan('ask', {}, parent)
  const sent = {}
  propagator.inject(api.trace.setSpan(parent, span), sent, api.defaultTextMapSetter)
  console.log(span.spanContext().spanId)
  return sent
}

async function ask (port, headers) {
  await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => http.get({ host: '127.0.0.1', port, headers, agent: false }, answer => answer.resume().on('end', resolve)))
}

const server = http.createServer(async (request, response) => {
  await ask(Number(request.headers['x-port']), process.argv[2] === 'sdk' ? begin(request.headers) : {})
  response.end('done\n')
  server.close()
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
