import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { repository } from '../../cluster/host/state.ts'
import { nativePackagesOf } from '../../cluster/images/platforms.ts'
import { buildLoadScript } from '../../release/airgap.ts'
import { annotateChart, withRegistry } from '../../release/chart.ts'
import { buildKrewManifest } from '../../release/krew.ts'
import { changesOf } from '../../release/page.ts'
import { isLoopback, parseSettings } from '../../release/settings.ts'

const read = (file: string): Promise<string> => readFile(path.join(repository, file), 'utf8')
const build = {
  version: '1.2.3-rc.1',
  revision: 'abc',
  created: '2026-01-01T00:00:00Z',
  registry: 'ghcr.io/acme/tintype',
  source: 'https://github.com/acme/tintype',
  platforms: ['amd64', 'arm64'] as const,
  output: '/nowhere',
  isCached: false,
}

t.test('withRegistry changes only the default of image.registry', async (t) => {
  const before = await read('charts/tintype/values.yaml')
  const after = withRegistry(before, build.registry)
  const expected = parse(before)
  expected.image.registry = build.registry
  t.strictSame(parse(after), expected)
  t.equal(after.split('\n').length, before.split('\n').length, 'comments stay')
  t.throws(() => withRegistry('image: {}', build.registry), /image\.registry/)
})

t.test('annotateChart sets the version and lists the images with their platforms', async (t) => {
  const images = [{ name: 'operator', platforms: [{ platform: 'amd64' as const, digest: 'sha256:1', compressedBytes: 1 }] }]
  const chart = parse(annotateChart(await read('charts/tintype/Chart.yaml'), build, images))
  t.match(chart, { name: 'tintype', version: '1.2.3-rc.1', appVersion: '1.2.3-rc.1', home: build.source, sources: [build.source] })
  t.equal(chart.annotations['artifacthub.io/prerelease'], 'true')
  t.strictSame(parse(chart.annotations['artifacthub.io/images']), [
    { name: 'operator', image: 'ghcr.io/acme/tintype/operator:1.2.3-rc.1', platforms: ['linux/amd64'] },
  ])
})

t.test('buildKrewManifest has one archive for each system that krew knows', async (t) => {
  const archive = 'kubectl-tintype-1.2.3.tar.gz'
  const { spec } = parse(buildKrewManifest({ version: '1.2.3', source: build.source, archive, sha256: 'f00' }))
  t.equal(spec.version, 'v1.2.3')
  t.strictSame(
    spec.platforms.map(({ selector }: { selector: { matchLabels: object } }) => Object.values(selector.matchLabels).join('-')),
    ['linux-amd64', 'linux-arm64', 'darwin-amd64', 'darwin-arm64'],
  )
  t.match(spec.platforms[0], { uri: `${build.source}/releases/download/v1.2.3/${archive}`, sha256: 'f00', bin: 'tintype.mjs' })
})

t.test('changesOf finds the section of a version, and "Unreleased" if there is none', async (t) => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.3 – 2026-01-01\n\n- old\n\n## 1.2.30\n\n- other\n'
  t.equal(changesOf(changelog, '1.2.3'), '- old')
  t.equal(changesOf(changelog, '2.0.0'), '- new')
  t.throws(() => changesOf('# Changelog\n', '2.0.0'), /neither a section 2\.0\.0 nor "Unreleased"/)
})

t.test('buildLoadScript copies each image and passes further arguments to skopeo', async (t) => {
  const script = buildLoadScript('1.2.3', ['operator', 'minio'])
  t.match(script, 'for name in operator minio; do')
  t.match(script, `"$@" "oci:images:$name:1.2.3" "docker://$registry/$name:1.2.3"`)
  t.match(script, `registry=\${1%/}`)
})

t.test('nativePackagesOf finds the packages for Linux with glibc of another platform', async (t) => {
  const { packages } = JSON.parse(await read('package-lock.json'))
  t.strictSame(nativePackagesOf(['sharp', 'playwright-core'], packages, 'arm64'), [
    '@img/sharp-libvips-linux-arm64',
    '@img/sharp-linux-arm64',
  ])
  t.strictSame(nativePackagesOf(['sharp'], packages, 'amd64'), ['@img/sharp-libvips-linux-x64', '@img/sharp-linux-x64'])
})

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
