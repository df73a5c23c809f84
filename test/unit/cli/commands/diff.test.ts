import { readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { aService, fileOf } from '../fake-world.ts'

const OLD = 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd'
const ids = ['scr_6ybsne2r7m8z0q3x5v1c4h9kf0', 'scr_6ybsne2r7m8z0q3x5v1c4h9kf1']

interface Body {
  url: string
  options?: Record<string, unknown>
}

/** A service whose compared screenshots have this comparison. `created` are the bodies of the created ones. */
async function aDiffService(t: Test, comparison: object, earlier: object = {}) {
  const created: Body[] = []
  const record = (id: string, more: object = {}) => ({
    ...{ id, url: 'https://a.example/', status: 'completed', options: {}, artifacts: [], warnings: [], error: null, comparison: null },
    ...more,
  })
  const artifacts = [{ type: 'diff', download_url: '/files/diff.png', file_size_bytes: 15 }]
  const read = (id: string) => () => record(id, created.at(-1)?.options?.compare_to === undefined ? {} : { comparison, artifacts })
  const service = await aService(t, {
    'POST /screenshots': ({ body }) => ({ id: ids[created.push(body) - 1], status: 'pending' }),
    [`GET /screenshots/${OLD}`]: record(OLD, earlier),
    ...Object.fromEntries(ids.map((id) => [`GET /screenshots/${id}`, read(id)])),
    'GET /files/diff.png': fileOf('the differences'),
  })
  return { created, ...service }
}

const changed = {
  ...{ to: OLD, changed: true, changed_ratio: 0.0124, changed_pixels: 25_714, size_changed: false },
  ...{ regions: [{ x: 1, y: 2, width: 3, height: 4 }], region_count: 1, diff_url: null, skipped: null },
}

t.test('diff needs two URLs or an earlier screenshot and a new capture, and sets compare_to itself', async (t) => {
  const { run, requests } = await aDiffService(t, changed)
  for (const [words, stderr] of [
    [`${OLD} ${ids[0]}`, /B must be a URL, because an earlier screenshot is compared with a new capture/],
    [`a.example ${OLD}`, /Write the id first/],
    ['a.example', /a second URL is missing/],
    [`${OLD} --compare-to ${OLD}`, /unknown option --compare-to/],
    [`${OLD} --cache`, /unknown option --cache/],
  ] as const)
    t.match(await run(`diff ${words}`), { code: 2, stderr }, words)
  t.strictSame(requests, [])
})

t.test('diff captures both URLs, compares the second with the first, and ends with 1 if it changed', async (t) => {
  const { created, run } = await aDiffService(t, changed)
  const file = path.join(t.testdir({}), 'diff.png')
  const { code, stdout } = await run(`diff a.example b.example --full-page -o ${file}`)
  t.strictSame({ code, stdout }, { code: 1, stdout: 'changed: 1.24 % of the pixels, in 1 region\n' })
  t.strictSame(created, [
    { url: 'https://a.example', options: { full_page: true } },
    { url: 'https://b.example', options: { full_page: true, compare_to: ids[0] } },
  ])
  t.equal(readFileSync(file, 'utf8'), 'the differences')
})

t.test('diff with an id captures its URL again, with the options that its record shows', async (t) => {
  const options = { format: 'webp', viewport_width: 800, cookies: '***', styles: 'p { color…', compare_to: ids[0] }
  const unchanged = { ...changed, changed: false, changed_pixels: 3, changed_ratio: 0.0000012, regions: [], region_count: 0 }
  const { created, run } = await aDiffService(t, unchanged, { options })
  const ignored = ['--compare-ignore', '#clock', '--compare-ignore', '{"x": 0, "y": 0, "width": 9, "height": 9}']
  const { code, stdout } = await run(`diff ${OLD}`, ...ignored)
  t.strictSame({ code, stdout }, { code: 0, stdout: 'unchanged: 0.000120 % of the pixels, in 0 regions\n' })
  const compare_ignore = ['#clock', { x: 0, y: 0, width: 9, height: 9 }]
  t.strictSame(created, [{ url: 'https://a.example/', options: { format: 'webp', viewport_width: 800, compare_ignore, compare_to: OLD } }])
})

t.test('diff says if nothing changed, and if the pictures were not compared', async (t) => {
  for (const [comparison, stdout] of [
    [{ changed_pixels: 0, changed_ratio: 0 }, 'unchanged\n'],
    [{ skipped: 'blank' }, 'not compared: the picture shows one color and almost nothing else\n'],
    [{ skipped: 'bot_challenge' }, 'not compared: the picture shows a bot challenge or a captcha\n'],
    [{ skipped: 'login' }, 'not compared: the picture shows a login form\n'],
  ] as const) {
    const { run } = await aDiffService(t, { ...changed, changed: false, ...comparison })
    const result = await run(`diff ${OLD}`)
    t.strictSame(result, { ...result, code: 0, stdout })
  }
  const { run } = await aDiffService(t, changed)
  t.match(JSON.parse((await run(`diff ${OLD} --json`)).stdout), { comparison: { changed: true } })
})
