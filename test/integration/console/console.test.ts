import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator } from 'playwright'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { captureEach, findViolations, overflowOf, signIn, startStage, visit } from './stage.ts'

// The console in a browser: sign-in, the playground, accessibility, and what other pages and captured pages must not be able to do.

const stage = await startStage(t)
const { world, gateways, key } = stage
const [{ url }] = gateways

/** Width of a loaded picture, 0 until then. */
const widthOf = (picture: Locator): Promise<number> =>
  picture.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth)

t.test('the playground captures a page, and everything comes from the gateway', async (t) => {
  captureEach(t, stage, {
    timings: { navigate: 310, settle: 400, upload: 90 },
    page: { timings: { load: 300 } },
    warnings: ['the page was still loading'],
  })
  const seen = await visit(t, stage)
  const { page, complaints, requests } = seen
  const scripts: Promise<number>[] = []
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script')
      scripts.push(
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => responseBodySize),
      )
  })
  await signIn(seen, url, key)
  await page.getByLabel('Page', { exact: true }).fill('https://example.com/')
  await page.getByLabel('Search options').fill('dark mode')
  await page.getByLabel('dark_mode', { exact: true }).selectOption('true')
  await page.getByRole('button', { name: 'Capture' }).click()
  const picture = page.getByRole('img', { name: 'Capture of https://example.com/' })
  await picture.waitFor()
  await eventually('the picture is drawn', async () => (await widthOf(picture)) === 1280)
  await page.getByText('the page was still loading').waitFor()
  await page.getByText('Steps of the capture: 800 ms').waitFor()
  const [shot] = await world.screenshots.listAll()
  t.match(shot?.spec, { url: 'https://example.com/', accountName: 'acme', options: { darkMode: true, metadataTimings: true } })
  t.strictSame(complaints, [])
  t.strictSame(
    requests.filter((request) => !request.startsWith(`${url}/`) && !request.startsWith('data:')),
    [],
  )
  const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0)
  t.ok(bytes > 10_000 && bytes <= 200 * 1024, `${bytes} bytes of scripts`)
})

t.test('the playground reports contradictions while you type, and refuses to send them', async (t) => {
  const seen = await visit(t, stage)
  const { page } = seen
  await signIn(seen, url, key)
  await page.getByLabel('Search options').fill('full_page selector')
  await page.getByLabel('Search options').fill('selector')
  await page.getByLabel('selector', { exact: true }).fill('#main')
  await page.getByLabel('Search options').fill('')
  await page.getByLabel('full_page', { exact: true }).selectOption('true')
  await page.getByText('1 to fix').waitFor()
  // The group with the option can be closed.
  await page.getByText('To correct in the options').waitFor()
  t.ok(await page.getByRole('button', { name: 'Capture' }).isDisabled())
  await page.getByLabel('full_page', { exact: true }).selectOption('')
  t.notOk(await page.getByRole('button', { name: 'Capture' }).isDisabled())
})

t.test('the signed link of the playground shows the picture', async (t) => {
  captureEach(t, stage)
  const seen = await visit(t, stage)
  await signIn(seen, url, key)
  await seen.page.getByRole('tab', { name: 'Signed link' }).click()
  await seen.page.getByText('A link without an end never ends.').waitFor()
  await seen.page.getByRole('button', { name: 'Sign link' }).click()
  const link = await seen.page.getByText('/v1/take?').textContent()
  t.notMatch(link, 'expires=')
  const response = await fetch(link ?? '')
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'image/png')
  await seen.page.getByLabel('Ends').selectOption({ label: 'in 7 days' })
  await seen.page.getByRole('button', { name: 'Sign the changed link' }).click()
  const ending = new URL((await seen.page.getByText('/v1/take?').textContent()) ?? '')
  const days = (Number(ending.searchParams.get('expires')) - Date.now() / 1_000) / 86_400
  t.ok(days > 6.9 && days <= 7, `${days} days`)
  t.equal((await fetch(ending)).status, 200)
})

t.test('with console.enabled=false, a gateway has none of the routes and still serves the API', async (t) => {
  const { url: plain } = await world.startGateway({ TINTYPE_CONSOLE: 'false', TINTYPE_CONSOLE_DIRECTORY: stage.directory })
  const headers = { accept: 'text/html', authorization: `Bearer ${key}`, 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/console/session'],
    ['POST', '/console/session'],
    ['DELETE', '/console/session'],
    ['POST', '/console/codes'],
    ['POST', '/console/codes/describe'],
    ['GET', `/console/assets/${(await readdir(`${stage.directory}/assets`))[0]}`],
  ] as const)
    t.equal((await fetch(plain + path, { method, headers })).status, 404, `${method} ${path}`)
  t.equal((await call(`${plain}/v1/screenshots`, { key })).status, 200)
})

t.test('pages of other origins cannot use the session', async (t) => {
  const seen = await visit(t, stage)
  await signIn(seen, url, key)
  const before = (await world.screenshots.listAll()).length
  // Another port is another origin of the same site, to which the browser sends even a strict cookie.
  const foreign = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  t.teardown(() => foreign.close())
  const attacker = await seen.context.newPage()
  await attacker.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`)
  const outcomes = await attacker.evaluate(async (target) => {
    const body = JSON.stringify({ url: 'https://example.com/' })
    const attempts: RequestInit[] = [
      { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body },
      { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'x-tintype-console': '1' }, body },
      { credentials: 'include', headers: { 'x-tintype-console': '1' } },
      { credentials: 'include' },
    ]
    const send = (attempt: RequestInit) =>
      fetch(`${target}/v1/screenshots`, attempt).then(
        (response) => `${response.type} ${response.status}`,
        () => 'blocked',
      )
    return Promise.all(attempts.map(send))
  }, url)
  t.strictSame(outcomes, ['opaque 0', 'blocked', 'blocked', 'blocked'])
  t.equal((await world.screenshots.listAll()).length, before, 'nothing was created')
})

for (const colorScheme of ['light', 'dark'] as const) {
  t.test(`the console is accessible and fits a telephone, ${colorScheme}`, async (t) => {
    captureEach(t, stage, { timings: { navigate: 310, settle: 400 }, page: { timings: { load: 300 } } })
    const seen = await visit(t, stage, { width: 360, colorScheme })
    const { page } = seen
    await page.goto(`${url}/`)
    await page.getByLabel('API key').waitFor()
    t.strictSame(await findViolations(page), [], 'sign-in')
    await signIn(seen, url, key)
    await page.getByRole('button', { name: 'Capture' }).click()
    await page.getByText('Steps of the capture').waitFor()
    // Every group is open, so that every kind of field is checked.
    await page.getByLabel('Search options').fill('a')
    t.strictSame(await findViolations(page), [], 'playground')
    t.equal(await overflowOf(page), 0)
  })
}
