import { chromium } from 'playwright'
import t from 'tap'
import { routes } from '../../../api-gateway/src/resources/all.ts'
import { assertEvery } from '../../support/accepts.ts'
import { aGateway, serveGateway } from '../../unit/api-gateway/fakes.ts'

// The reference page in the browser that captures pages: it loads everything from the gateway, under a policy that allows nothing else.

const { app, key, screenshots } = aGateway({ publicUrl: '' })
const base = `http://127.0.0.1:${await serveGateway(t, app)}`
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
t.teardown(() => browser.close())

t.test('the reference page shows every operation and only loads from the gateway', async (t) => {
  const page = await browser.newPage()
  const complaints: string[] = []
  const asked: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(`${base}/docs`, { waitUntil: 'networkidle' })
  const titles = page.locator('.opblock-tag-section .opblock-summary-path')
  await titles.first().waitFor()
  t.equal(await titles.count(), routes.length)
  t.strictSame(complaints, [])
  t.ok(asked.length > 4)
  assertEvery(t, asked, (url) => url.startsWith(`${base}/`) || url.startsWith('data:'))
  await page.close()
})

t.test('the reference page sends a request with the key of the reader', async (t) => {
  const page = await browser.newPage()
  await page.goto(`${base}/docs`, { waitUntil: 'networkidle' })
  await page.click('.btn.authorize')
  await page.fill('.auth-container input', key)
  await page.click('.auth-btn-wrapper .authorize')
  await page.click('.auth-btn-wrapper .btn-done')
  await page.click('#operations-Screenshots-createScreenshot .opblock-summary')
  await page.click('#operations-Screenshots-createScreenshot .try-out__btn')
  const answered = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.click('#operations-Screenshots-createScreenshot .execute')
  t.equal((await answered).status(), 202)
  t.equal(screenshots.objects.size, 1)
  await page.close()
})
