import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build, transform } from 'esbuild'
import { chromium } from 'playwright'
import t from 'tap'
import { runPythonClient, runTypeScriptClient } from '../../clients/generate.ts'
import { GENERATED } from '../../clients/openapi-generator.ts'
import { compileAgainst, installClient, installedPackages, runPlainly } from '../../clients/package.ts'
import { ensureRuntimes } from '../../clients/runtimes.ts'
import { repository } from '../../cluster/host/state.ts'
import { choose, isFullLength } from '../../support/length.ts'
import { startCuttingProxy } from '../../support/servers/cutting-proxy.ts'
import { serve } from '../../support/servers/serve.ts'
import { PICTURE, startStage } from '../fuzz/stage.ts'

// The TypeScript client as npm would publish it, installed into an empty project, against a real gateway, API server and store. Then clients that are
// generated from the OpenAPI document of this gateway. Those of openapi-generator take minutes, and need Java, Go and packages from the internet, so they
// run only at full length.

const [stage, client, runtimes] = await Promise.all([startStage(), installClient(), ensureRuntimes()])
t.teardown(async () => {
  await stage.stop()
  await client.remove()
})
const { world } = stage
const service = { TINTYPE_URL: stage.gateway.url, TINTYPE_API_KEY: stage.key }
const smoke = readFileSync(path.join(repository, 'test/clients/package-smoke.ts'), 'utf8')

t.test('the package has its module, its types, its license and nothing else', async (t) => {
  t.strictSame(client.files.filter((file) => !/^dist\/types\/.*\.d\.ts$/.test(file)).sort(), [
    'README.md',
    'dist/LICENSE',
    'dist/index.js',
    'dist/index.js.map',
    'package.json',
  ])
  t.strictSame(await installedPackages(client), ['@tintype'], 'and no dependencies')
})

t.test('a program that uses the package compiles strictly, with TypeScript 5 and without types of Node.js', async (t) => {
  await writeFile(path.join(client.directory, 'smoke.ts'), smoke)
  await t.resolves(compileAgainst(client, ['smoke.ts']))
})

t.test('the samples of the documentation compile', async (t) => {
  const pages = ['docs/clients.md', 'api-gateway/client/README.md']
  const samples = pages.flatMap((page) =>
    [...readFileSync(path.join(repository, page), 'utf8').matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code),
  )
  t.ok(samples.length > 6, `${samples.length} samples`)
  const files = await Promise.all(
    samples.map(async (code, index) => {
      const file = `sample-${index}.ts`
      // Later samples use the client of the first.
      const setup = code.includes('new Tintype(') ? '' : "declare const tintype: import('@tintype/client').Tintype\n"
      await writeFile(path.join(client.directory, file), `${setup}${code}\nexport {}\n`)
      return file
    }),
  )
  await t.resolves(compileAgainst(client, files, { node: true }))
})

const module = path.join(client.directory, 'smoke.mjs')
await writeFile(module, (await transform(smoke, { loader: 'ts', target: 'es2022' })).code)
const known = Object.entries({ 'Node.js 26': [process.execPath] as const, ...runtimes })
for (const [name, [program, ...args]] of choose(known, ([name]) => name.startsWith('Node.js'))) {
  t.test(`the package works in ${name}`, async (t) => {
    const options = { directory: client.directory, environment: service, timeoutMilliseconds: 240_000 }
    t.match(await runPlainly(program, [...args, module], options), 'the packed client did all that it should')
  })
}

t.test('a connection that is cut in the middle of a POST yields one screenshot and one charge', async (t) => {
  const { Tintype } = await client.load()
  for (const cut of ['drop', 'half'] as const) {
    const accountName = `cut-${cut}`
    await world.createAccount(accountName)
    const proxy = await startCuttingProxy(Number(new URL(stage.gateway.url).port))
    t.teardown(() => proxy.stop())
    const tintype = new Tintype({ baseUrl: proxy.url, apiKey: await world.createKey({ accountName }) })
    proxy.cuts.push(cut, cut)
    const created = await tintype.screenshots.create({ url: 'https://example.com/' })
    const { items } = await world.screenshots.list()
    const own = items.filter(({ spec }) => spec.accountName === accountName)
    t.equal(proxy.count(), 2, `${cut}: two responses were lost`)
    t.equal(own.length, 1, `${cut}: one screenshot`)
    t.equal((await world.usages.get(accountName)).status?.used, 1, `${cut}: one charge`)
    t.equal((await tintype.screenshots.get(created.id)).id, created.id)
  }
})

t.test('a capture and a download survive cut connections', async (t) => {
  const { Tintype, CaptureFailedError } = await client.load()
  const proxy = await startCuttingProxy(Number(new URL(stage.gateway.url).port))
  t.teardown(() => proxy.stop())
  const tintype = new Tintype({ baseUrl: proxy.url, apiKey: stage.key })
  for (;;) {
    proxy.cuts.push('drop', 'half', 'pass', 'drop', 'half')
    const result = await tintype.capture({ url: 'https://example.com/' }).catch((error: unknown) => error)
    if (result instanceof CaptureFailedError) continue
    if (result instanceof Error) throw result
    t.match(result, { bytes: { length: PICTURE.length }, screenshot: { status: 'completed' } })
    return
  }
})

t.test('the package works in a browser, bundled with esbuild, from an allowed origin', async (t) => {
  const entry = `
    import { CaptureFailedError, Tintype, verifyWebhook } from '@tintype/client'
    globalThis.captureOne = async (baseUrl, apiKey) => {
      const tintype = new Tintype({ baseUrl, apiKey })
      for (;;) {
        try {
          const { bytes, screenshot } = await tintype.capture({ url: 'https://example.com/' })
          const pages = []
          for await (const { id } of tintype.screenshots.list({ limit: 2 })) { pages.push(id); if (pages.length === 5) break }
          const verification = await verifyWebhook({ payload: '{}', headers: {}, secret: 'whsec_AAAA' }).catch((error) => error.code)
          return { length: bytes.length, status: screenshot.status, listed: pages.length, verification }
        } catch (error) {
          if (!(error instanceof CaptureFailedError)) throw error
        }
      }
    }`
  const { outputFiles, metafile } = await build({
    stdin: { contents: entry, resolveDir: client.directory },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    write: false,
    metafile: true,
  })
  t.ok((outputFiles[0]?.contents.length ?? 0) < 40_000, `${outputFiles[0]?.contents.length} bytes`)
  t.ok(Object.keys(metafile.inputs).every((file) => file === '<stdin>' || file.endsWith('@tintype/client/dist/index.js')))
  const origin = await serve(t, (request, response) => {
    const isScript = request.url === '/script.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? outputFiles[0]?.text : '<!doctype html><script type="module" src="/script.js"></script>')
  })
  const gateway = await world.startGateway({ TINTYPE_CORS_ORIGINS: origin })
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(origin, { waitUntil: 'load' })
  const result = await page.evaluate(
    ([url, key]) => (globalThis as unknown as { captureOne: (...args: unknown[]) => Promise<object> }).captureOne(url, key),
    [gateway.url, stage.key],
  )
  t.match(result, { length: PICTURE.length, status: 'completed', listed: 5, verification: 'WEBHOOK_NOT_VERIFIED' })
  t.strictSame(errors, [])
})

for (const [generator, clients] of Object.entries({
  'our generators': { TypeScript: runTypeScriptClient, Python: runPythonClient },
  'openapi-generator': isFullLength ? GENERATED : {},
})) {
  for (const [language, runClient] of Object.entries(clients)) {
    t.test(`a client that ${generator} makes for ${language} compiles and works`, async (t) => {
      t.match(await runClient({ url: stage.gateway.url, key: stage.key }), `${language} client: all checks passed`)
    })
  }
}
