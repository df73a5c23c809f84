import t from 'tap'
import { isLoopback, parseSettings } from '../../release/settings.ts'

const registry = ['--registry', 'ghcr.io/acme/tintype']

t.test('parseSettings has all platforms and no key by default', async (t) => {
  const settings = parseSettings(registry)
  t.match(settings, { registry: 'ghcr.io/acme/tintype', isPushed: false, platforms: ['amd64', 'arm64'] })
  t.equal(settings?.key, undefined)
})

t.test('parseSettings keeps the order of platforms and removes the slash after the source', async (t) => {
  const settings = parseSettings([...registry, '--platforms', 'arm64,amd64', '--source', 'https://github.com/acme/tintype/'])
  t.strictSame(settings?.platforms, ['amd64', 'arm64'])
  t.equal(settings?.source, 'https://github.com/acme/tintype')
})

const refused: [string[], RegExp][] = [
  [[], /--registry is missing.*ghcr\.io/],
  [['--registry', 'https://ghcr.io/acme'], /is not a host and a path.*without https/],
  [['--registry', 'ghcr.io'], /is not a host and a path/],
  [['--registry', 'ghcr.io/Acme/tintype'], /lower case/],
  [[...registry, '--platforms', 'amd64,riscv64'], /riscv64 is unknown: choose from amd64,arm64/],
  [[...registry, '--source', 'github.com/acme'], /starts with https/],
]
for (const [args, message] of refused) {
  t.test(`parseSettings rejects ${args.join(' ') || 'no arguments'}`, async (t) => t.throws(() => parseSettings(args), { message }))
}

t.test('parseSettings returns nothing for --help', async (t) => t.equal(parseSettings(['--help']), undefined))

t.test('isLoopback is true only for registries of this machine', async (t) => {
  t.strictSame(
    ['127.0.0.1:5000/tintype', 'localhost:5000/x', 'localhost/x', 'localhost.example.com/x', '127.example.com/x', 'ghcr.io/x'].map(
      isLoopback,
    ),
    [true, true, true, false, false, false],
  )
})
