/** The page of a release: how to install and verify it, its images, and the changes. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { repository } from '../cluster/host/state.ts'
import { chartReference } from './chart.ts'
import type { ReleaseBuild, ReleasedImage } from './images.ts'

/** The changes of a version in CHANGELOG.md, or those of "Unreleased" if the version has no section yet. */
export function changesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.split(/[\s–]/)[0] === version) ?? sections.find((text) => text.startsWith('Unreleased'))
  if (section === undefined) throw new Error(`CHANGELOG.md has neither a section ${version} nor "Unreleased": add one`)
  return section.slice(section.indexOf('\n') + 1).trim()
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`

/** Markdown of the release page. Without a public key, the release is not signed, and the page does not say how to verify it. */
export async function buildPage(build: ReleaseBuild, images: readonly ReleasedImage[], publicKey: string | undefined): Promise<string> {
  const { version, registry, platforms } = build
  const changelog = await readFile(path.join(repository, 'CHANGELOG.md'), 'utf8')
  const chart = chartReference(registry)
  const rows = images.map(({ name, digest, platforms: built }) => {
    const sizes = platforms.map((wanted) => built.find(({ platform }) => platform === wanted)?.compressedBytes ?? 0)
    return `| \`${registry}/${name}:${version}\` | ${sizes.map(mebibytes).join(' | ')} | \`${digest}\` |`
  })
  return `${[
    `# Tintype ${version}`,
    '',
    'Install it on a cluster with Kubernetes 1.32 or newer:',
    '',
    '```sh',
    `helm install tintype ${chart} --version ${version} -n tintype --create-namespace`,
    '```',
    '',
    'Helm prints how to reach the API and how to get the first API key.',
    '',
    ...(publicKey === undefined ? [] : describeVerification(build, publicKey)),
    '## Images',
    '',
    `| Image | ${platforms.join(' | ')} | Digest |`,
    `|---|${platforms.map(() => '---|').join('')}---|`,
    ...rows,
    '',
    'Sizes are those of a download. `sbom/` and `notices/` list the parts of each image and their licenses. The SBOMs are CycloneDX 1.6.',
    '',
    '## Without internet',
    '',
    `\`tintype-${version}-airgap.tar\` contains the chart and all images. Copy it to a machine that reaches your registry and has skopeo:`,
    '',
    '```sh',
    `tar -xf tintype-${version}-airgap.tar`,
    './load.sh registry.internal/tintype',
    `helm install tintype ./tintype-${version}.tgz -n tintype --create-namespace --set image.registry=registry.internal/tintype`,
    '```',
    '',
    '## Changes',
    '',
    changesOf(changelog, version),
  ].join('\n')}\n`
}

function describeVerification({ registry, version }: ReleaseBuild, publicKey: string): string[] {
  return [
    '## Verify it',
    '',
    'Images, chart, SBOMs and checksums are signed with this key. It is not in a transparency log.',
    '',
    '```',
    publicKey.trim(),
    '```',
    '',
    '```sh',
    `cosign verify --key cosign.pub --insecure-ignore-tlog=true ${registry}/operator:${version}`,
    `cosign verify --key cosign.pub --insecure-ignore-tlog=true ${registry}/charts/tintype:${version}`,
    `cosign verify-attestation --key cosign.pub --insecure-ignore-tlog=true --type cyclonedx ${registry}/operator:${version}`,
    'cosign verify-blob --key cosign.pub --insecure-ignore-tlog=true --bundle SHA256SUMS.sigstore.json SHA256SUMS && sha256sum -c SHA256SUMS',
    '```',
    '',
  ]
}
