import { execFileSync } from 'node:child_process'
import t from 'tap'
import { parse } from 'yaml'
import { parseFlags } from '../../../api-gateway/cli/src/arguments/parse.ts'
import { captureFlags, toCaptureOptions } from '../../../api-gateway/cli/src/commands/capture-flags.ts'
import { fieldsByName } from '../../../api-gateway/console/src/form/fields.ts'
import { toCommand, toCurl, toLinkParameters, toManifest, toTypeScript } from '../../../api-gateway/console/src/snippets/snippets.ts'
import { assertLinkOptions } from '../../../api-gateway/src/resources/take/link-options.ts'
import { ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { exampleOf } from '../../../crds/src/options/groups.ts'

// What the console offers to copy, checked with the programs that read it.

const BASE = 'https://shots.example.com'
const NASTY = `it's "quoted" $HOME \`id\` \\ new\nline`
const body = { url: 'https://example.com/', options: { full_page: true, styles: NASTY, hide_selectors: ['.a', '#b'] } }

t.test('the curl command passes the body unchanged through a shell', async (t) => {
  const command = toCurl(BASE, body).replace('curl', 'printf "%s\\0"')
  const args = execFileSync('sh', ['-c', command], { env: { TINTYPE_API_KEY: 'ttk_x' } })
    .toString()
    .split('\0')
  t.equal(args[1], `${BASE}/api/v1/screenshots`)
  t.strictSame(args.slice(args.indexOf('Accept: image/*')).slice(0, 3), ['Accept: image/*', '-o', 'page.png'], 'the picture is a file')
  t.ok(args.includes('Authorization: Bearer ttk_x'))
  t.strictSame(JSON.parse(args[args.indexOf('-d') + 1]!), body)
})

t.test('the curl command prints the record if the options ask for it', async (t) => {
  const command = toCurl(BASE, { ...body, options: { response_type: 'json' } })
  t.match(command, '/screenshots?wait=25')
  t.notMatch(command, 'Accept')
})

t.test('the command line has every option of the form, with the same values', async (t) => {
  const captured = [...fieldsByName.values()].filter(
    ({ name }) => !['response_type', 'async', 'cookies', 'html', 'markdown'].includes(name),
  )
  for (const { name, option } of captured) {
    const value = exampleOf(option)
    const { text, left } = toCommand(BASE, { url: body.url, options: { [name]: value } })
    const args = execFileSync('sh', ['-c', text.replace('tintype', 'printf "%s\\0"')])
      .toString()
      .split('\0')
    const flags = args.filter((arg) => arg.startsWith('--') && !arg.startsWith('--server='))
    t.strictSame(toCaptureOptions(parseFlags(captureFlags, flags)), { [name]: value }, name)
    t.strictSame(left, [])
  }
  const { text, left } = toCommand(BASE, { url: body.url, options: { format: 'webp', styles: NASTY, response_type: 'json' } })
  t.match(text, "tintype shot 'https://example.com/' -o page.webp")
  t.strictSame(left, ['response_type'])
})

t.test('the TypeScript program has the options as a literal', async (t) => {
  const [, literal] = /capture\((\{.*\})\)$/s.exec(toTypeScript(BASE, body)) ?? []
  t.strictSame(new Function(`return ${literal}`)(), { url: body.url, ...body.options })
  t.match(literal, /^ {2}full_page: true,$/m)
})

t.test('a video is recorded at its own path, and with its own call of the client', async (t) => {
  const video = { url: body.url, options: { format: 'webm', video_duration: 3 } }
  t.match(toCurl(BASE, video), `${BASE}/api/v1/videos?wait=25`)
  t.match(toTypeScript(BASE, video), 'const { bytes, video } = await tintype.record({')
})

t.test('the manifest is a valid Screenshot with every option that a manifest can have', async (t) => {
  const options = Object.fromEntries([...fieldsByName.values()].map(({ name, option }) => [name, exampleOf(option)]))
  const { text, left } = toManifest({ url: body.url, options: { ...options, styles: NASTY } }, 'acme')
  const manifest = parse(text)
  t.match(manifest, { apiVersion: 'tintype.dev/v1alpha1', kind: 'Screenshot', spec: { accountName: 'acme', url: body.url } })
  const spec = ScreenshotSpec.strict().parse(manifest.spec)
  t.equal(spec.options?.styles, NASTY)
  const places = ['private', 'cache']
  const expected = [...fieldsByName.values()].filter(
    ({ name, place }) => places.includes(place) || ['async', 'response_type'].includes(name),
  )
  t.strictSame([...left].sort(), expected.map(({ name }) => name).sort())
})

t.test('a link has exactly the options that the gateway accepts in links', async (t) => {
  for (const { name, option } of fieldsByName.values()) {
    const options = { [name]: exampleOf(option) }
    const { params, left } = toLinkParameters(options)
    let isAllowed = true
    try {
      assertLinkOptions(options, [])
    } catch {
      isAllowed = false
    }
    t.strictSame(isAllowed ? params : left, isAllowed ? options : [name], name)
  }
  t.strictSame(toLinkParameters({ cache: false, cache_refresh: true }).left, ['cache', 'cache_refresh'])
})
