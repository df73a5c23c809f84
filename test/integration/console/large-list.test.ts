import { randomBytes } from 'node:crypto'
import { chromium } from 'playwright'
import t from 'tap'
import { openConsoleFiles } from '../../../api-gateway/src/console/files.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'
import { aGateway, aScreenshot, NOW, serveGateway } from '../../unit/api-gateway/fakes.ts'
import { provideConsole } from './stage.ts'

// A long list of screenshots in a browser, over stores in memory.

const COUNT = isFullLength ? 10_000 : 3_000
/** Cards of the largest window with the rows beyond it. */
const MAX_DRAWN = 120

t.test('a list of thousands of screenshots draws only what the window shows, and refreshes itself', async (t) => {
  const { app, screenshots, key } = aGateway({ console: await openConsoleFiles(await provideConsole(t)) })
  const put = (index: number) =>
    screenshots.put(
      aScreenshot({
        id: newId('scr', new Date(NOW.getTime() - index * 1_000), randomBytes(10)),
        url: `https://example.com/${index}`,
        phase: 'Failed',
        status: { attempt: 1, completionTime: NOW.toISOString() },
      }),
    )
  for (let index = 0; index < COUNT; index++) put(index)
  const port = await serveGateway(t, app)
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const url = `http://127.0.0.1:${port}`
  await page.goto(`${url}/#/screenshots`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const cards = page.locator('.card')
  await cards.first().waitFor()
  // Scrolls to the end as often as the browser draws, until no further page follows.
  const drawn = await page.evaluate<number>(`(async () => {
    let most = 0
    while (!document.body.textContent.includes('${COUNT.toLocaleString('en-US')} screenshots')) {
      scrollTo(0, document.documentElement.scrollHeight)
      await new Promise(requestAnimationFrame)
      most = Math.max(most, document.querySelectorAll('.card').length)
    }
    return most
  })()`)
  t.ok(drawn > 0 && drawn <= MAX_DRAWN, `${drawn} cards were drawn at once`)
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  await page.locator(`.grid li[aria-posinset="${COUNT}"]`).waitFor()

  const isAt = (top: number) => eventually(`the list is at ${top}`, async () => (await page.evaluate('scrollY')) === top, 20_000)
  // A record leads back to its place in the list.
  await page.evaluate('scrollTo(0, 30_000)')
  await isAt(30_000)
  // Playwright would scroll to the card before a click.
  await page.waitForFunction(`(() => {
    const isInside = ({ top, bottom }) => top > 0 && bottom < innerHeight
    const card = [...document.querySelectorAll('.card')].find((one) => isInside(one.getBoundingClientRect()))
    card?.click()
    return card !== undefined
  })()`)
  await page.getByRole('heading', { name: 'Record' }).waitFor()
  t.equal(await page.evaluate('scrollY'), 0)
  await page.goBack()
  await isAt(30_000)

  // After a deletion, the list has its filters, so that the next click does not meet another list.
  await page.goto(`${url}/#/screenshots?status=failed`)
  await page.getByRole('button', { name: 'Count by cause' }).click()
  await page.getByRole('row', { name: `INTERNAL_ERROR ${COUNT.toLocaleString('en-US')}` }).waitFor()
  await page.locator('.card').first().click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(`${url}/#/screenshots?status=failed`)

  // The playground keeps what was entered.
  await page.goto(`${url}/#/playground`)
  await page.getByLabel('Page', { exact: true }).fill('https://example.com/kept')
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('link', { name: 'Playground' }).click()
  t.equal(await page.getByLabel('Page', { exact: true }).inputValue(), 'https://example.com/kept')
  t.equal(await page.getByText(/^Reset/).count(), 0, 'no option is set')
  await page.goto(`${url}/#/nonsense`)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByRole('link', { name: 'Screenshots' }).click()
  await page.locator('.card').first().waitFor()
  await page.evaluate('scrollTo(0, 2_000)')
  await isAt(2_000)

  // New screenshots wait while the reader is further down, so that the list does not move.
  put(-1)
  await page.getByRole('button', { name: 'Show 1 new' }).click()
  await page.getByRole('link', { name: 'https://example.com/-1' }).waitFor()
})
