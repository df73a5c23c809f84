import t from 'tap'
import { buildSbom, type ImageParts, parseDpkgStatus, parseGoModules, purlsOf } from '../../release/sbom.ts'

const status = `Package: libc6
Status: install ok installed
Architecture: arm64
Source: glibc
Version: 2.41-12
Description: a library
 with Version: 9 in its text

Package: gone
Status: deinstall ok config-files
Architecture: arm64
Version: 1

Package: base-files
Status: install ok installed
Architecture: arm64
Source: base (13)
Version: 13+b1
`

t.test('parseDpkgStatus lists installed packages with their sources', async (t) => {
  t.strictSame(parseDpkgStatus(status), [
    { name: 'libc6', version: '2.41-12', architecture: 'arm64', source: 'glibc', sourceVersion: '2.41-12' },
    { name: 'base-files', version: '13+b1', architecture: 'arm64', source: 'base', sourceVersion: '13' },
  ])
  t.strictSame(parseDpkgStatus(''), [])
})

t.test('parseGoModules replaces modules and leaves out a main module without a version', async (t) => {
  const text = [
    'minio: go1.26.8',
    '\tpath\tgithub.com/minio/minio',
    '\tmod\tgithub.com/minio/minio\t(devel)\t',
    '\tdep\tgithub.com/a/b\tv1.0.0\th1:x=',
    '\tdep\tgithub.com/c/d\tv1.0.0',
    '\t=>\tgithub.com/e/f\tv2.0.0\th1:y=',
    '\tbuild\tGOOS=linux',
  ]
  t.strictSame(parseGoModules(text.join('\n')), [
    { name: 'github.com/a/b', version: 'v1.0.0' },
    { name: 'github.com/e/f', version: 'v2.0.0' },
  ])
})

const parts: ImageParts = {
  image: 'operator',
  version: '1.2.3',
  platform: 'arm64',
  license: 'Apache-2.0',
  npm: [
    { name: '@img/colour', version: '1.1.0', license: 'MIT' },
    { name: 'odd', version: '1.0.0', license: undefined },
  ],
  debian: parseDpkgStatus(status),
  go: [{ name: 'github.com/a/b', version: 'v1.0.0' }],
  node: '26.10.0',
}

t.test('buildSbom lists every part by its package URL', async (t) => {
  const sbom = buildSbom(parts)
  t.strictSame(purlsOf(sbom).sort(), [
    'pkg:deb/debian/base-files@13+b1',
    'pkg:deb/debian/libc6@2.41-12',
    'pkg:generic/node@26.10.0',
    'pkg:golang/github.com/a/b@v1.0.0',
    'pkg:npm/%40img/colour@1.1.0',
    'pkg:npm/odd@1.0.0',
  ])
  t.match(JSON.parse(sbom), {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { type: 'container', name: 'operator', version: '1.2.3', licenses: [{ license: { id: 'Apache-2.0' } }] } },
  })
})

t.test('buildSbom names the architecture, the source and the license where they are known', async (t) => {
  const { components } = JSON.parse(buildSbom(parts)) as { components: { name: string; purl: string; licenses?: unknown }[] }
  const find = (name: string) => components.find((component) => component.name === name)
  t.match(find('libc6')?.purl, /arch=arm64&distro=trixie&upstream=glibc/)
  t.strictSame(find('colour')?.licenses, [{ license: { id: 'MIT' } }])
  t.equal(find('odd')?.licenses, undefined)
})

t.test('buildSbom gives the same text for the same parts', async (t) => t.equal(buildSbom(parts), buildSbom(structuredClone(parts))))
