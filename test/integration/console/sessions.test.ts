import type { Page } from 'playwright'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { signIn, startStage, visit } from './stage.ts'

// Sessions of the console over two gateways: how they begin, how they end, and where no key may appear.

const stage = await startStage(t)
const { gateways, key } = stage
const [{ url }, other] = gateways
const OF_CONSOLE = { 'content-type': 'application/json', 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }

/** Status of a request with a copied cookie, at each gateway. */
const statusesOf = (cookie: string): Promise<number[]> =>
  Promise.all(
    gateways.map(async (gateway) => (await fetch(`${gateway.url}/v1/usage/current`, { headers: { ...OF_CONSOLE, cookie } })).status),
  )

const ended = (cookie: string) =>
  eventually('the copied session ends on every replica', async () => (await statusesOf(cookie)).every((status) => status === 401))

t.test('a code in the fragment signs in once, over all replicas, and leaves the address bar', async (t) => {
  const { body } = await call(`${url}/console/codes`, { method: 'POST', key })
  const link: string = body.data.path
  const first = await visit(t, stage)
  await first.page.goto(url + link)
  await first.page.getByRole('navigation', { name: 'Pages' }).waitFor()
  t.notMatch(first.page.url(), 'code')
  t.notMatch(first.requests.join(), body.data.code)
  const second = await visit(t, stage)
  await second.page.goto(other.url + link)
  await second.page.getByText('the sign-in link was used or has expired').waitFor()
})

t.test('a code that is used at two replicas at the same time begins one session', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { body } = await call(`${url}/console/codes`, { method: 'POST', key })
    const request = { method: 'POST', headers: OF_CONSOLE, body: JSON.stringify({ code: body.data.code }) }
    const responses = await Promise.all([...gateways, ...gateways].map((gateway) => fetch(`${gateway.url}/console/session`, request)))
    t.strictSame(responses.map(({ status }) => status).sort(), [200, 401, 401, 401])
    t.equal(responses.filter(({ headers }) => headers.has('set-cookie')).length, 1)
  }
})

t.test('signing out ends the session on every replica', async (t) => {
  const seen = await visit(t, stage)
  await signIn(seen, url, key)
  // Ports do not separate cookies, so the session also works at the other replica.
  const elsewhere = await seen.context.newPage()
  await elsewhere.goto(`${other.url}/`)
  await elsewhere.getByRole('navigation', { name: 'Pages' }).waitFor()
  const cookie = await cookieOf(seen.page)
  t.match((await seen.context.cookies())[0], { httpOnly: true, sameSite: 'Strict', name: 'tintype-session' })
  await seen.page.getByRole('button', { name: 'Sign out' }).click()
  await seen.page.getByLabel('API key').waitFor()
  t.strictSame(await seen.context.cookies(), [])
  await ended(cookie)
})

t.test('deleting a key ends its sessions on every replica, and the open page asks to sign in', async (t) => {
  const { body } = await call(`${url}/v1/keys`, {
    method: 'POST',
    key,
    body: { name: 'short-lived', scopes: ['screenshots:read', 'usage:read'] },
  })
  const seen = await visit(t, stage)
  await signIn(seen, url, body.data.key)
  const cookie = await cookieOf(seen.page)
  t.strictSame(await statusesOf(cookie), [200, 200])
  await call(`${other.url}/v1/keys/${body.data.id}`, { method: 'DELETE', key })
  await ended(cookie)
  await seen.page.getByText('Your session has ended. Sign in again.').waitFor()
  await seen.page.getByLabel('API key').waitFor()
})

t.test('keys are in no storage of the browser, in no URL, and in no log', async (t) => {
  const seen = await visit(t, stage)
  const { page, context, requests } = seen
  await signIn(seen, url, key)
  await page.goto(`${url}/#/keys`)
  await page.getByLabel('Name').fill('made in the console')
  await page.getByRole('button', { name: 'Create key' }).click()
  const made = (await page.locator('.secret code').textContent()) ?? ''
  t.match(made, /^ttk_/)
  const stored = JSON.stringify(await context.storageState({ indexedDB: true }))
  const session = await page.evaluate<string>('JSON.stringify({ ...sessionStorage })')
  const logs = gateways.map((gateway) => gateway.log()).join('')
  t.match(logs, 'api-gateway')
  for (const secret of [key, made])
    for (const [place, text] of Object.entries({ stored, session, urls: requests.join(), history: page.url(), logs }))
      t.notOk(text.includes(secret), place)
})

async function cookieOf(page: Page): Promise<string> {
  const [session] = await page.context().cookies()
  return `tintype-session=${session?.value}`
}
