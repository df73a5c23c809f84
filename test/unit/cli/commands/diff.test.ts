import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runCli, sendJson, serve } from '../fake-world.ts'

const OLD = 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd'
const ids = ['scr_6ybsne2r7m8z0q3x5v1c4h9kf0', 'scr_6ybsne2r7m8z0q3x5v1c4h9kf1']

interface Service {
  /** Bodies of the created screenshots. */
  created: { url: string; options?: Record<string, unknown> }[]
  environment: Record<string, string>
}

/** A service whose second screenshot has this comparison. */
async function aService(t: Test, comparison: object | null, earlier: object = {}): Promise<Service> {
  const created: Service['created'] = []
  const record = (id: string, more: object = {}) => ({
    ...{ id, url: 'https://a.example/', status: 'completed', options: {}, artifacts: [], warnings: [], error: null, comparison: null },
    ...more,
  })
  const { url, stop } = await serve((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (request.method === 'POST') {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        created.push(JSON.parse(Buffer.concat(chunks).toString()))
        sendJson(response, { id: ids[created.length - 1], status: 'pending' }, 202)
      })
    } else if (path.endsWith('/diff.png')) response.writeHead(200, { 'content-type': 'image/png' }).end('the differences')
    else if (path.endsWith(OLD)) sendJson(response, record(OLD, earlier))
    else {
      const isCompared = created.at(-1)?.options?.compare_to !== undefined
      const artifacts = comparison ? [{ type: 'diff', download_url: `${url}/files/diff.png`, file_size_bytes: 15 }] : []
      sendJson(response, record(path.split('/').at(-1) ?? '', isCompared ? { comparison, artifacts } : {}))
    }
  })
  t.teardown(stop)
  return { created, environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } }
}

const changed = {
  ...{ to: OLD, changed: true, changed_ratio: 0.0124, changed_pixels: 25_714, size_changed: false },
  ...{ regions: [{ x: 1, y: 2, width: 3, height: 4 }], region_count: 1, diff_url: null, skipped: null },
}

t.test('diff with two ids says that it compares an earlier screenshot only with a new capture', async (t) => {
  const { created, environment } = await aService(t, changed)
  const { code, stderr } = await runCli(['diff', OLD, ids[0]!], { environment })
  t.match({ code, stderr }, { code: 2, stderr: /B must be a URL, because an earlier screenshot is compared with a new capture/ })
  t.match((await runCli(['diff', 'a.example', OLD], { environment })).stderr, /Write the id first/)
  t.strictSame(created, [])
})

t.test('diff captures both URLs, compares the second with the first, and ends with 1 if it changed', async (t) => {
  const { created, environment } = await aService(t, changed)
  const file = join(mkdtempSync(join(tmpdir(), 'diff-')), 'diff.png')
  const { code, stdout, stderr } = await runCli(['diff', 'a.example', 'b.example', '--full-page', '-o', file], { environment })
  t.match({ code, stdout, stderr }, { code: 1, stdout: 'changed: 1.24 % of the pixels, in 1 region\n', stderr: '' })
  t.strictSame(created, [
    { url: 'https://a.example', options: { full_page: true } },
    { url: 'https://b.example', options: { full_page: true, compare_to: ids[0] } },
  ])
  t.equal(readFileSync(file, 'utf8'), 'the differences')
})

t.test('diff with an id captures its URL again, with the options that its record shows', async (t) => {
  const options = { format: 'webp', viewport_width: 800, cookies: '***', styles: 'p { color…', compare_to: ids[0] }
  const unchanged = { ...changed, changed: false, changed_pixels: 3, changed_ratio: 0.0000012, regions: [], region_count: 0 }
  const { created, environment } = await aService(t, unchanged, { options })
  const args = ['diff', OLD, '--compare-ignore', '#clock', '--compare-ignore', '{"x": 0, "y": 0, "width": 9, "height": 9}']
  const { code, stdout } = await runCli(args, { environment })
  t.match({ code, stdout }, { code: 0, stdout: 'unchanged: 0.000120 % of the pixels, in 0 regions\n' })
  const compare_ignore = ['#clock', { x: 0, y: 0, width: 9, height: 9 }]
  t.strictSame(created, [{ url: 'https://a.example/', options: { format: 'webp', viewport_width: 800, compare_ignore, compare_to: OLD } }])
})

t.test('diff says if nothing changed, and if the pictures were not compared', async (t) => {
  for (const [comparison, expected] of [
    [{ ...changed, changed: false, changed_pixels: 0, changed_ratio: 0 }, 'unchanged\n'],
    [{ ...changed, changed: false, skipped: 'blank' }, 'not compared: the picture shows one color and almost nothing else\n'],
    [{ ...changed, changed: false, skipped: 'bot_challenge' }, 'not compared: the picture shows a bot challenge or a captcha\n'],
    [{ ...changed, changed: false, skipped: 'login' }, 'not compared: the picture shows a login form\n'],
  ] as const) {
    const { environment } = await aService(t, comparison)
    t.match(await runCli(['diff', OLD], { environment }), { code: 0, stdout: expected })
  }
  const { environment } = await aService(t, changed)
  t.match(JSON.parse((await runCli(['diff', OLD, '--json'], { environment })).stdout), { comparison: { changed: true } })
})

t.test('diff needs two URLs, or an id, and sets compare_to itself', async (t) => {
  const environment = { TINTYPE_URL: 'http://127.0.0.1:1', TINTYPE_API_KEY: 'key' }
  t.match(await runCli(['diff', 'a.example'], { environment }), { code: 2, stderr: /a second URL is missing/ })
  t.match(await runCli(['diff', OLD, '--compare-to', OLD], { environment }), { code: 2, stderr: /unknown option --compare-to/ })
  t.match(await runCli(['diff', OLD, '--cache'], { environment }), { code: 2, stderr: /unknown option --cache/ })
})
