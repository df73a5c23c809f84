/**
 * Lists the parts of an image as CycloneDX. Scanners read node_modules and would miss what esbuild bundled. So npm packages come from the build,
 * Debian packages from the image's dpkg database, and Go modules from the program.
 */
import * as CycloneDX from '@cyclonedx/cyclonedx-library'
import { PackageURL } from 'packageurl-js'
import type { BundledPackage } from '../cluster/images/bundle.ts'
import type { Platform } from '../cluster/images/platforms.ts'

/** An installed Debian package. */
export interface DebianPackage {
  name: string
  version: string
  architecture: string
  /** Name and version of its source. */
  source: string
  sourceVersion: string
}

/** A module of a Go program. */
export interface GoModule {
  name: string
  version: string
}

/** The parts of one image for one platform. */
export interface ImageParts {
  image: string
  version: string
  platform: Platform
  license: string
  npm: readonly BundledPackage[]
  debian: readonly DebianPackage[]
  go: readonly GoModule[]
  /** Version of Node.js in the image, without `v`. Absent: it has none. */
  node: string | undefined
}

const { Component, Bom } = CycloneDX.Models
const { ComponentType } = CycloneDX.Enums
const licenses = new CycloneDX.Contrib.License.Factories.LicenseFactory((text: string) => text)

/** Parses /var/lib/dpkg/status. Removed packages are left out. */
export function parseDpkgStatus(text: string): DebianPackage[] {
  return text
    .split('\n\n')
    .map((stanza) => new Map([...stanza.matchAll(/^([\w-]+): (.*)$/gm)].map(([, field = '', value = '']) => [field, value])))
    .filter((fields) => fields.get('Status') === 'install ok installed')
    .map((fields) => {
      const [name, version] = [fields.get('Package') ?? '', fields.get('Version') ?? '']
      // `glibc (2.41-1)`: the version only if it differs
      const [, source, sourceVersion] = /^(\S+)(?: \((.+)\))?$/.exec(fields.get('Source') ?? name) ?? []
      return {
        name,
        version,
        architecture: fields.get('Architecture') ?? '',
        source: source ?? name,
        sourceVersion: sourceVersion ?? version,
      }
    })
}

/** Parses the output of `go version -m`: the modules, replaced ones by their replacement. A main module without a version is left out. */
export function parseGoModules(text: string): GoModule[] {
  const modules: GoModule[] = []
  for (const [, kind, name = '', version = ''] of text.matchAll(/^\t(mod|dep|=>)\t(\S+)\t(\S+)/gm)) {
    if (kind === '=>') modules.pop()
    if (version !== '(devel)') modules.push({ name, version })
  }
  return modules
}

/** The SBOM of an image, as JSON of CycloneDX 1.6. The same parts give the same text. */
export function buildSbom(parts: ImageParts): string {
  const bom = new Bom()
  const root = new Component(ComponentType.Container, parts.image, {
    version: parts.version,
    purl: new PackageURL('oci', '', parts.image, parts.version, { arch: parts.platform }, '').toString(),
    bomRef: `${parts.image}@${parts.version}?arch=${parts.platform}`,
  })
  root.licenses.add(licenses.makeFromString(parts.license))
  bom.metadata.component = root
  for (const { name, version, license } of parts.npm) {
    const [scope, base] = name.startsWith('@') ? (name.split('/') as [string, string]) : ['', name]
    add(new PackageURL('npm', scope, base, version, undefined, ''), base, scope, version, license)
  }
  for (const { name, version, architecture, source, sourceVersion } of parts.debian) {
    const upstream = source === name && sourceVersion === version ? {} : { upstream: `${source}@${sourceVersion}` }
    add(new PackageURL('deb', 'debian', name, version, { arch: architecture, distro: 'trixie', ...upstream }, ''), name, '', version)
  }
  for (const { name, version } of parts.go) {
    const at = name.lastIndexOf('/')
    add(new PackageURL('golang', name.slice(0, Math.max(0, at)), name.slice(at + 1), version, undefined, ''), name, '', version)
  }
  if (parts.node !== undefined) add(new PackageURL('generic', '', 'node', parts.node, undefined, ''), 'node', '', parts.node, 'MIT')
  const serializer = new CycloneDX.Serialize.JsonSerializer(new CycloneDX.Serialize.JSON.Normalize.Factory(CycloneDX.Spec.Spec1dot6))
  return serializer.serialize(bom, { sortLists: true, space: 1 })

  function add(purl: PackageURL, name: string, group: string, version: string, license?: string): void {
    const component = new Component(ComponentType.Library, name, { version, purl: purl.toString(), bomRef: purl.toString() })
    if (group !== '') component.group = group
    if (license !== undefined) component.licenses.add(licenses.makeFromString(license))
    bom.components.add(component)
  }
}

/** The package URLs of an SBOM, without qualifiers: `pkg:npm/%40img/colour@1.0.0`. */
export const purlsOf = (sbom: string): string[] =>
  ((JSON.parse(sbom) as { components?: { purl: string }[] }).components ?? []).map(({ purl }) => purl.split('?')[0]!)
