/** One archive with all images, the chart and a script that copies the images into a private registry. */
import { chmod, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ReleaseBuild, ReleasedImage } from './images.ts'
import { packFiles } from './krew.ts'

/** The script of the archive. It needs skopeo and a registry, or containerd on the node. */
export function buildLoadScript(version: string, names: readonly string[]): string {
  return `#!/bin/sh
# Copies the images of Tintype ${version} into a registry: ./load.sh registry.internal/tintype
# Further arguments go to skopeo, for example --dest-tls-verify=false or --dest-creds user:password.
set -eu
if [ $# -lt 1 ]; then
  echo "Name the registry and path for the images: $0 registry.internal/tintype" >&2
  exit 2
fi
if ! command -v skopeo >/dev/null; then
  echo "skopeo is not installed. Install the package skopeo of your distribution." >&2
  exit 1
fi
registry=\${1%/}
shift
cd "$(dirname "$0")"
for name in ${names.join(' ')}; do
  echo "copying $name"
  skopeo copy --all --preserve-digests "$@" "oci:images:$name:${version}" "docker://$registry/$name:${version}"
done
echo "Install with: helm install tintype ./tintype-${version}.tgz -n tintype --create-namespace --set image.registry=$registry"
`
}

/** Writes `tintype-<version>-airgap.tar`. The OCI layout of the images is in it, and not beside it. */
export async function packAirgap({ version, output, created }: ReleaseBuild, images: readonly ReleasedImage[]): Promise<string> {
  const script = path.join(output, 'load.sh')
  const names = images.map(({ name }) => name)
  await writeFile(script, buildLoadScript(version, names))
  await chmod(script, 0o755)
  const archive = `tintype-${version}-airgap.tar`
  const contents = ['images', `tintype-${version}.tgz`, 'sbom', 'notices', 'load.sh']
  await packFiles(path.join(output, archive), output, contents, created)
  await rm(script)
  return archive
}
