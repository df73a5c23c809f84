import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { bandColor } from '../../sites/src/drawn.ts'
import { createPages, pageNames } from '../../sites/src/server.ts'

const server = createServer(createPages('the authority')).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => {
  server.close()
  server.closeAllConnections()
})
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const get = async (path: string) => {
  const answer = await fetch(base + path, { redirect: 'manual' })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

t.test('README lists exactly the existing pages', async (t) => {
  const readme = readFileSync(new URL('../../sites/README.md', import.meta.url), 'utf8')
  const listed = [...readme.matchAll(/`\/([a-z][A-Za-z0-9.-]*)/g)].map(([, name]) => name)
  const internal = ['csp.css', 'healthz']
  t.strictSame(
    pageNames.filter((name) => !listed.includes(name) && !internal.includes(name)),
    [],
    'not listed',
  )
  const elsewhere = ['ca.pem', 'en-US']
  t.strictSame(
    listed.filter((name = '') => !pageNames.includes(name) && !elsewhere.includes(name)),
    [],
    'not there',
  )
})

t.test('/tall is as tall as it is asked to be, in bands of the colors that tests compute', async (t) => {
  const { text } = await get('/tall?height=250&header=0')
  t.strictSame(
    [...text.matchAll(/height:(\d+)px;overflow:hidden;background:#([0-9a-f]{6})/g)].map(([, height, color]) => [height, color]),
    [
      ['100', bandColor(0)],
      ['100', bandColor(1)],
      ['50', bandColor(2)],
    ],
  )
  t.equal(new Set(Array.from({ length: 300 }, (_, n) => bandColor(n))).size, 300, 'each band has its own color')
})

t.test('/status answers with the status that it is asked for', async (t) => {
  for (const status of [200, 404, 418, 503]) t.equal((await get(`/status/${status}`)).status, status)
})

t.test('/redirects ends after as many hops as it is asked for', async (t) => {
  const hops = ['/redirects/3']
  for (let next: string | null = hops[0] ?? null; next?.startsWith('/redirects'); ) {
    next = (await get(next)).headers.get('location')
    hops.push(next ?? '')
  }
  t.strictSame(hops, ['/redirects/3', '/redirects/2', '/redirects/1', '/quadrants'])
})

t.test('/counted tells how often /count was asked for', async (t) => {
  await get('/count?key=a')
  await get('/count?key=a')
  t.match(JSON.parse((await get('/counted?key=a')).text), { count: 2 })
  t.match(JSON.parse((await get('/counted?key=b')).text), { count: 0 })
})

t.test('pages escape text of the query', async (t) => {
  const evil = encodeURIComponent('</script><img src=x>"\'')
  for (const path of [`/refresh?to=${evil}`, `/go-by-script?to=${evil}`, `/reach/fetch?url=${evil}`, `/solid?color=${evil}`, `/${evil}`]) {
    t.notMatch((await get(path)).text, /<img src=x>/, path)
  }
})

t.test('unknown pages return 404, and / lists all pages', async (t) => {
  t.equal((await get('/nothing')).status, 404)
  t.equal((await get('/constructor')).status, 404)
  t.match((await get('/')).text, /href="\/quadrants"/)
  t.equal((await get('/ca.pem')).text, 'the authority')
})
