import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium } from 'playwright'
import t from 'tap'
import { buildConsole } from '../../../api-gateway/console/build.ts'
import { openConsoleFiles } from '../../../api-gateway/src/console/files.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { aGateway, aScreenshot, NOW } from '../../unit/api-gateway/fakes.ts'

// The list of ten thousand screenshots in a browser, over stores in memory.

const COUNT = 10_000
/** Cards of the largest window with the rows beyond it. */
const MAX_DRAWN = 120

t.test('a list of ten thousand screenshots draws only what the window shows, and refreshes itself', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-console-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await buildConsole(directory)
  const { app, screenshots, key } = aGateway({ console: await openConsoleFiles(directory) })
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
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  await page.goto(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/#/screenshots`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const cards = page.locator('.card')
  await cards.first().waitFor()
  // Scrolls to the end as often as the browser draws, until no further page follows.
  const drawn = await page.evaluate<number>(`(async () => {
    let most = 0
    while (!document.body.textContent.includes('${COUNT} screenshots')) {
      scrollTo(0, document.documentElement.scrollHeight)
      await new Promise(requestAnimationFrame)
      most = Math.max(most, document.querySelectorAll('.card').length)
    }
    return most
  })()`)
  t.ok(drawn > 0 && drawn <= MAX_DRAWN, `${drawn} cards were drawn at once`)
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  await page.locator(`.grid li[aria-posinset="${COUNT}"]`).waitFor()

  // New screenshots wait while the reader is further down, so that the list does not move.
  put(-1)
  await page.getByRole('button', { name: 'Show 1 new' }).click()
  await page.getByRole('link', { name: 'https://example.com/-1' }).waitFor()
})
