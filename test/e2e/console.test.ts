import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright'
import t from 'tap'
import { consoleLink } from '../cluster/release/first-capture.ts'
import { call } from '../support/cluster/api-client.ts'
import { cluster } from '../support/cluster/environment.ts'
import { createDirectory } from '../support/directory.ts'
import { decode } from '../support/picture.ts'
import { page as sitePage } from '../support/servers/pages.ts'

// The web console of the deployed release, as a person opens it from the output of `npm start`.

t.setTimeout(180_000)
const run = promisify(execFile)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
t.teardown(() => browser.close())

t.test(
  'the link of npm start signs in once after a click, and the console captures a page and gives a command that does the same',
  async (t) => {
    const link = await consoleLink(cluster)
    const context = await browser.newContext({ acceptDownloads: true })
    t.teardown(() => context.close())
    const page = await context.newPage()
    const foreign: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(`${cluster.url}/`) && !request.url().startsWith('data:')) foreign.push(request.url())
    })
    await page.goto(link)
    await page.getByRole('button', { name: 'Sign in to account' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    t.notMatch(page.url(), 'code')

    await page.getByLabel('Page', { exact: true }).fill(sitePage('/quadrants'))
    await page.getByLabel('viewport_width', { exact: true }).fill('640')
    await page.getByLabel('viewport_height', { exact: true }).fill('480')
    await page.getByRole('button', { name: 'Capture' }).click()
    await page.getByRole('img', { name: 'Capture of' }).waitFor({ timeout: 60_000 })
    const file = await page.getByRole('link', { name: 'Open file' }).getAttribute('href')
    const picture = await decode(Buffer.from(await (await fetch(new URL(file ?? '', `${cluster.url}/`))).arrayBuffer()))
    t.strictSame([picture.format, picture.width, picture.height], ['png', 640, 480])

    const command = (await page.getByRole('tabpanel').locator('pre').textContent()) ?? ''
    const directory = await createDirectory(t, 'console')
    const { stdout } = await run('bash', ['-c', command], { cwd: directory, env: { ...cluster.shell, TINTYPE_API_KEY: cluster.apiKey } })
    t.equal(stdout, '200\n')
    const [written = ''] = await readdir(directory)
    const same = await decode(await readFile(path.join(directory, written)))
    t.strictSame([same.format, same.width, same.height], ['png', 640, 480])
    t.strictSame(foreign, [], 'no request leaves the origin')

    const second = await (await browser.newContext()).newPage()
    await second.goto(link)
    await second.getByText('the sign-in link was used or has expired').waitFor()
    const id = (await page.getByRole('link', { name: 'Record', exact: true }).getAttribute('href'))?.split('/').at(-1)
    await call(`/api/v1/screenshots/${id}`, { method: 'DELETE', key: cluster.apiKey })
  },
)
