import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { aGateway } from '../fakes.ts'

const gateway = aGateway()
await gateway.app.listen({ port: 0, host: '127.0.0.1' })
t.teardown(() => gateway.app.close())
const { port } = gateway.app.server.address() as AddressInfo
const authorization = `Authorization: ${gateway.headers.authorization}`

/** Sends requests in one packet, each with its path and its headers. Returns the responses: status and body. */
async function send(...requests: [path: string, ...headers: string[]][]) {
  const socket = connect(port, '127.0.0.1')
  const last = requests.length - 1
  const toText = ([path, ...headers]: string[], index: number) =>
    [`GET ${path} HTTP/1.1`, ...headers, ...(index === last ? ['Connection: close'] : []), '', ''].join('\r\n')
  socket.write(requests.map(toText).join(''))
  const text = Buffer.concat(await socket.toArray()).toString()
  return text.split(/(?=HTTP\/1\.1 \d)/).map((response) => ({ status: Number(response.split(' ')[1]), text: response }))
}

const repeated: [what: string, name: string, path: string, headers: string[]][] = [
  ['two hosts', 'Host', '/v1/status', ['Host: a.example', 'Host: b.example']],
  ['the same host twice, in another case', 'HOST', '/v1/status', ['host: a.example', 'HOST: a.example']],
  ['hosts that a proxy has joined', 'Host', '/v1/status', ['Host: a.example, b.example']],
  ['two keys', 'Authorization', '/v1/keys', ['Host: a', authorization, 'Authorization: Bearer other']],
  ['a key after another scheme', 'authorization', '/v1/keys', ['Host: a', 'Authorization: Basic YTpi', authorization.toLowerCase()]],
  ['keys that a proxy has joined', 'Authorization', '/v1/keys', ['Host: a', `${authorization}, Bearer other`]],
  ['two hosts of an unknown path', 'Host', '/nothing', ['Host: a', 'Host: b']],
]
for (const [what, name, path, headers] of repeated) {
  t.test(`the first of ${what} is read: the request is refused`, async (t) => {
    const [response] = await send([path, ...headers])
    t.equal(response?.status, 400)
    t.match(response?.text, `"message":"the request has more than one header ${name}: send one","code":"VALIDATION_ERROR"`)
    t.match(response?.text, /"request_id":"[0-9a-f-]{36}"/)
  })
}

t.test('of the requests of a packet, only those with a repeated header are refused', async (t) => {
  const ok: [string, ...string[]] = ['/v1/keys', 'Host: a', authorization]
  const responses = await send(ok, ['/v1/keys', 'Host: a', 'Host: b', authorization], ok)
  t.strictSame(
    responses.map(({ status }) => status),
    [200, 400, 200],
  )
})

t.test('one host, one key, and other repeated headers are accepted', async (t) => {
  const more = ['Accept: text/html', 'Accept: application/json', 'X-Forwarded-For: 10.0.0.1, 10.0.0.2', 'Cookie: a=1', 'Cookie: b=2']
  t.equal((await send(['/v1/keys', 'Host: a.example:8080', authorization, ...more]))[0]?.status, 200)
  t.equal((await send(['/v1/status', 'Host: [::1]:8080', 'Authorization: Digest username="a", realm="b"']))[0]?.status, 200)
})
