import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { sourceOf, toCall } from '../../../../capture-runner/src/page/call.ts'
import type { PageFunctionName } from '../../../../capture-runner/src/page/functions.ts'
import { sources } from '../../../../capture-runner/src/page/generated/sources.ts'

const names = Object.keys(sources) as PageFunctionName[]
const tsc = join(import.meta.dirname, '../../../../node_modules/.bin/tsc')

/** Names of a page's world that page functions use, besides those of JavaScript itself. */
const GLOBALS = `
  Animation Blob CSS CSSStyleSheet CSSTransition CloseEvent DOMMatrix DOMRect Document Element Event EventTarget
  HTMLDialogElement HTMLMediaElement HTMLVideoElement KeyframeEffect MutationObserver Node NodeFilter Performance
  ResizeObserver ShadowRoot Screen ScrollTimeline Text URL ViewTimeline XMLSerializer addEventListener devicePixelRatio
  dispatchEvent document fetch getComputedStyle history innerHeight innerWidth localStorage location matchMedia
  performance removeEventListener requestIdleCallback scrollBy scrollTo scrollX scrollY setTimeout`
  .trim()
  .split(/\s+/)

/** Names that a script uses and neither declares nor finds among the globals, as the compiler reports them. */
async function findFreeNames(directory: string, scripts: Readonly<Record<string, string>>): Promise<string[]> {
  const declarations = GLOBALS.map((name) => `declare var ${name}: any;`).join('\n')
  await writeFile(join(directory, 'globals.d.ts'), declarations)
  for (const [name, source] of Object.entries(scripts)) await writeFile(join(directory, `${name}.js`), `export default ${source}`)
  const files = ['globals.d.ts', ...Object.keys(scripts).map((name) => `${name}.js`)]
  const settings = [...'--ignoreConfig --noEmit --allowJs --checkJs --lib es2025 --target es2025 --module esnext --types'.split(' '), '']
  // tap gives options to every process, with which the compiler does not start.
  const command = ['--unset=NODE_OPTIONS', tsc, ...settings, ...files]
  const run = promisify(execFile)('env', command, { cwd: directory, maxBuffer: 64 * 1024 * 1024 })
  const output = await run.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      if (stdout === '') throw new Error(`tsc reported nothing: ${stderr}`)
      return stdout
    },
  )
  return [...output.matchAll(/^(\w+)\.js\(.*(?:Cannot find name|No value exists in scope for the shorthand property) '([^']+)'/gm)].map(
    ([, file, name]) => `${file}: ${name}`,
  )
}

t.test('the bundle of page functions has no name that fails in a page', async (t) => {
  t.ok(names.length > 50, `${names.length} functions`)
  t.strictSame(await findFreeNames(t.testdir(), sources), [])
})

t.test('the check finds imports, constants and helpers that are not in the bundle', async (t) => {
  const free = await findFreeNames(t.testdir(), {
    constant: '() => MAX_NAMES',
    helper: '(element) => { for (const one of [element]) setStyle(one) }',
    node: '() => process.env',
    shorthand: '() => ({ MAX_NAMES })',
    declared: '(() => { const MAX_NAMES = 1; return () => MAX_NAMES + document.title })()',
  })
  t.strictSame(free.sort(), ['constant: MAX_NAMES', 'helper: setStyle', 'node: process', 'shorthand: MAX_NAMES'])
})

t.test('the sources of page functions stay small, and the one in a page ends no script element', async (t) => {
  for (const name of names) t.ok(sourceOf(name).length < 27_000, `${name} has ${sourceOf(name).length} characters`)
  t.notMatch(sourceOf('showPdf'), /<\/script|<!--/i)
})

t.test('toCall passes values that contain quotes, line separators and code', async (t) => {
  for (const text of ['"quoted"', "it's", '\u2028', '\\', '</script>', '__proto__']) {
    const call = toCall('scrollToMiddle', text)
    t.ok(call.startsWith(sourceOf('scrollToMiddle')))
    t.equal(new Function(`return [${call.slice(sourceOf('scrollToMiddle').length + 1, -1)}]`)()[0], text)
  }
})
