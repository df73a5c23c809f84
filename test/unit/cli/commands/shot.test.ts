import { existsSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { runCli, sendJson, serve } from '../fake-world.ts'

/** A service that captures everything at once. Counts the captures. */
async function aService(t: { teardown: (stop: () => void) => void }) {
  const seen = { captures: 0 }
  const { url, stop } = await serve((request, response) => {
    if (request.url?.startsWith('/files/')) return response.end(request.url)
    if (request.method === 'POST') seen.captures += 1
    const file = (extension: string): string => `${url}/files/users/acme/scr_1.${extension}?signature=x`
    const artifacts = [
      { type: 'html', file_size_bytes: 5, download_url: file('html') },
      { type: 'thumbnail', file_size_bytes: 5, download_url: file('thumb.png') },
    ]
    sendJson(response, { id: 'scr_1', status: 'completed', format: 'png', artifacts, warnings: [], download_url: file('png'), error: null })
  })
  t.teardown(stop)
  return { seen, environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } }
}

t.test('shot captures and charges nothing if its file cannot be written, or is named for another format', async (t) => {
  const { environment, seen } = await aService(t)
  const folder = t.testdir({})
  const cases: [args: string[], message: RegExp][] = [
    [['a.example', '-o', path.join(folder, 'missing/a.png')], /the folder .*missing does not exist. Create it/],
    [['a.example', '-o', 'page.png', '--format', 'jpeg'], /page.png is the name of a png file, but --format is jpeg/],
    [
      ['a.example', 'b.example', '-o', path.join(folder, 'one.png')],
      /one.png is the name of one picture. Several pictures need a folder: write -o one\/\./,
    ],
  ]
  for (const [args, message] of cases) t.match(await runCli(['shot', ...args], { environment }), { code: 2, stderr: message })
  t.equal(seen.captures, 0)
  t.notOk(existsSync(path.join(folder, 'one.png')))
})

t.test('shot refuses a file whose extension is no format, unless --format decides', async (t) => {
  const { environment, seen } = await aService(t)
  const folder = t.testdir({ 'shots.v2': {} })
  const shoot = (name: string, ...flags: string[]) =>
    runCli(['shot', 'a.example', '-o', path.join(folder, name), ...flags], { environment })
  const formats = 'png, jpg, jpeg, webp, avif, pdf, mp4, webm, gif'
  const problem = `a.bmp has the extension .bmp, which is no format. Use one of ${formats}, or add --format.`
  t.match(await shoot('a.bmp'), { code: 2, stderr: problem })
  t.equal(seen.captures, 0)
  for (const args of [['a.bmp', '--format', 'png'], ['picture'], ['shots.v2']])
    t.equal((await shoot(...(args as [string]))).code, 0, args.join(' '))
})

t.test('shot writes the files of --save-html and others beside the picture', async (t) => {
  const { environment } = await aService(t)
  const folder = t.testdir({})
  const { code, stderr } = await runCli(['shot', 'a.example', '-o', path.join(folder, 'page.png'), '--save-html'], { environment })
  t.equal(code, 0, stderr)
  for (const name of ['page.png', 'page.html', 'page.thumb.png']) t.ok(existsSync(path.join(folder, name)), name)
  t.match(stderr, /saved .*page\.html\nsaved .*page\.thumb\.png/)
})

t.test('shot says how to get the picture if its file cannot be written after the capture', async (t) => {
  const { environment } = await aService(t)
  const folder = t.testdir({ 'page.png.part': {} })
  const { code, stderr } = await runCli(['shot', 'a.example', '-o', path.join(folder, 'page.png')], { environment })
  t.equal(code, 1)
  t.match(stderr, /The capture is scr_1. Run `tintype get scr_1 -o FILE` to download its file./)
})
