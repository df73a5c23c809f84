import t from 'tap'
import { isLoopback, parseSettings } from '../../release/settings.ts'

const registry = ['--registry', 'ghcr.io/acme/tintype']

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

t.test('isLoopback is true only for registries of this machine', async (t) => {
  t.strictSame(
    ['127.0.0.1:5000/tintype', 'localhost:5000/x', 'localhost/x', 'localhost.example.com/x', '127.example.com/x', 'ghcr.io/x'].map(
      isLoopback,
    ),
    [true, true, true, false, false, false],
  )
})
