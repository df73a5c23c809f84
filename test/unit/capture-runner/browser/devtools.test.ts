import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { CDPSession } from 'playwright'
import t from 'tap'
import { parentOf } from '../../../../capture-runner/src/browser/devtools.ts'
import { assertEvery } from '../../../support/accepts.ts'
import { readSources } from '../../../support/sources/source-files.ts'

/** A session of Playwright's API. */
function sessionOf(worker?: unknown) {
  const session = {
    send: async () => {},
    on: () => {},
    ...(worker === undefined ? {} : { _connection: { toImpl: () => worker } }),
  }
  return session as unknown as CDPSession
}

/** The part of Playwright's implementation that is used. */
class Inner extends EventEmitter {
  readonly asked: string[] = []
  readonly children = new Map<string, Inner>()

  async send(name: string) {
    this.asked.push(name)
    return this instanceof Inner
  }

  createChildSession(sessionId: string) {
    const child = new Inner()
    this.children.set(sessionId, child)
    return child
  }

  disposeChildSession(sessionId: string) {
    this.children.delete(sessionId)
  }
}

for (const [name, implementation] of [
  ['does not expose its implementation', undefined],
  ['has no inner session', {}],
  ['keeps one that takes no commands', { _session: { on: () => {} } }],
  ['keeps one without children', { _session: { send: async () => {}, on: () => {} } }],
] as const) {
  t.test(`parentOf throws when Playwright ${name}`, async (t) => {
    t.throws(() => parentOf(sessionOf(implementation)), { message: 'this version of Playwright does not expose its sessions' })
  })
}

t.test('parentOf returns nested sessions, and drops each when its target is gone', async (t) => {
  const inner = new Inner()
  const browser = parentOf(sessionOf({ _session: inner }))
  const gone: string[] = []
  const page = browser.child('page', () => gone.push('page'))
  page.child('frame', () => gone.push('frame'))
  await page.send('Page.enable')
  const innerPage = inner.children.get('page')
  t.strictSame(innerPage?.asked, ['Page.enable'])
  innerPage?.emit('Target.detachedFromTarget', { sessionId: 'frame' })
  inner.emit('Target.detachedFromTarget', { sessionId: 'page' })
  inner.emit('Target.detachedFromTarget', { sessionId: 'page' })
  inner.emit('Target.detachedFromTarget', { sessionId: 'another’s' })
  t.strictSame(gone, ['frame', 'page'], 'each once')
  t.strictSame([inner.children.size, innerPage?.children.size], [0, 0])
})

t.test('parentOf ends all descendants of a lost session, innermost first', async (t) => {
  const inner = new Inner()
  const browser = parentOf(sessionOf({ _session: inner }))
  const gone: string[] = []
  const page = browser.child('page', () => gone.push('page'))
  const worker = page.child('worker', () => gone.push('worker'))
  worker.child('nested', () => gone.push('nested'))
  inner.emit('Target.detachedFromTarget', { sessionId: 'page' })
  t.strictSame(gone, ['nested', 'worker', 'page'])
})

const INTERNALS = 'capture-runner/src/browser/devtools.ts'
/** Members of other libraries' objects begin with an underscore if they are private. */
const PRIVATE = /(?<=[.{,;\s?])_[a-z]\w+(?=\??[:.,;)?\s])/g

/** HAR files name extensions in this way, too, and libraries in page functions have private names of their own. */
const OTHERS = ['capture-runner/src/requests/journal.ts', 'capture-runner/src/page/generated/large-sources.ts']

const privateNamesOf = (code: string): string[] => [...new Set(code.match(PRIVATE))]

t.test('private names of Playwright are in one file', async (t) => {
  const files = readSources().filter(({ file }) => file.startsWith('capture-runner/src/'))
  t.ok(files.length > 100, `${files.length} files of the runner`)
  const strays = files.flatMap(({ file, code }) =>
    [INTERNALS, ...OTHERS].includes(file) ? [] : privateNamesOf(code).map((name) => `${file}: ${name}`),
  )
  t.strictSame(strays, [])
})

t.test('the installed Playwright has every private name that the runner uses', async (t) => {
  const { code } = readSources().find(({ file }) => file === INTERNALS)!
  const names = [...privateNamesOf(code), 'toImpl', 'createChildSession', 'disposeChildSession']
  t.ok(names.length > 4, names.join(' '))
  const require = createRequire(import.meta.url)
  const library = path.dirname(require.resolve('playwright-core/package.json'))
  const text = readFileSync(path.join(library, 'lib/coreBundle.js'), 'utf8')
  assertEvery(t, names, (name) => text.includes(name))
})
