/**
 * `npm start`: starts the cluster, builds and loads images, installs the chart, waits until it is ready, and captures a page. With
 * TINTYPE_CLUSTER=current it only installs the chart on the cluster of the current kubectl context, with images that were pushed before.
 */
import path from 'node:path'
import { runCommand } from './host/command.ts'
import { choices, environmentFile, firstPage, network, releaseNamespace, repository, toolsDirectory } from './host/state.ts'
import { formatDuration, runSteps, type Step, StepError } from './host/steps.ts'
import { type ImageTags, imageSteps } from './images/main.ts'
import { images, releaseTag } from './images/plan.ts'
import type { ClusterFacts } from './kubernetes/prerequisites.ts'
import { mustBuildPrograms } from './programs/programs.ts'
import { captureFirst, consoleLink, writeEnvironment } from './release/first-capture.ts'
import { ensurePortForward } from './release/port-forward.ts'
import { ensureNamespaces, ensureRelease } from './release/release.ts'
import { awaitRollout } from './release/rollout.ts'
import { clusterSteps, toolSteps } from './up.ts'

async function main(): Promise<void> {
  const start = performance.now()
  const facts: ClusterFacts = { hasOutboundNetwork: false }
  const { steps, tags } = choices.cluster === 'current' ? await currentSteps() : await embeddedSteps(facts)
  const url = `http://127.0.0.1:${network.hostGatewayPort}`
  let link = ''
  const capture: Step = {
    name: 'First screenshot',
    run: async () => {
      const access = await writeEnvironment(url)
      const picture = await captureFirst(access, firstPage)
      link = await consoleLink(access)
      return picture
    },
  }
  await runSteps([...steps, ...releaseSteps(tags, facts), capture])
  process.stdout.write(`\n${describeNext(url, link, performance.now() - start)}\n`)
}

/** Measured on 2 cores, with a network that downloads the modules and packages in about a minute. */
const FIRST_START = 'The first start takes about 11 minutes on 2 cores, because it compiles Kubernetes. Later starts take about 20 seconds.'

async function embeddedSteps(facts: ClusterFacts): Promise<{ steps: Step[]; tags: ImageTags }> {
  const { begin, steps, tags } = imageSteps(true)
  const isFirst = await mustBuildPrograms()
  if (isFirst) process.stdout.write(`${FIRST_START}\n\n`)
  const [packages, kubernetes, minio] = toolSteps()
  const [base, ...others] = steps
  return { steps: [packages, ...(isFirst ? [begin] : []), kubernetes, base, ...clusterSteps(facts), minio, ...others], tags }
}

/** Builds nothing, because another cluster pulls images from a registry. */
async function currentSteps(): Promise<{ steps: Step[]; tags: ImageTags }> {
  const tag = await releaseTag()
  const check: Step = {
    name: 'Current kubectl context',
    run: async () => {
      if (choices.registry !== undefined) return `images from ${choices.registry}`
      throw new StepError('TINTYPE_REGISTRY is not set, so the cluster cannot pull the images', {
        remedy: 'npm run images -- --push REGISTRY, then TINTYPE_REGISTRY=REGISTRY TINTYPE_CLUSTER=current npm start',
      })
    },
  }
  return { steps: [check], tags: new Map(images.map(({ name }) => [name, tag])) }
}

function releaseSteps(tags: ImageTags, facts: ClusterFacts): Step[] {
  const forward: Step = { name: 'Port forward', run: ensurePortForward }
  return [
    { name: 'Namespaces', run: () => ensureNamespaces(tags) },
    { name: 'Tintype', run: () => ensureRelease(tags, facts) },
    { name: 'Rollout', run: awaitRollout },
    ...(choices.cluster === 'current' ? [forward] : []),
  ]
}

/** Commands for the user to try next, from the root of the checkout. */
function describeNext(url: string, link: string, milliseconds: number): string {
  const tools = choices.cluster === 'current' ? '' : `; PATH=$PWD/${path.relative(repository, toolsDirectory)}:$PATH`
  return `Ready in ${formatDuration(milliseconds)}. The API is at ${url}. Its key is in ${path.relative(repository, environmentFile)}.

The web console (this link signs in once, within ten minutes):
  ${link}

Try:

  set -a; . '${environmentFile}'; set +a${tools}
  curl -fsS "$TINTYPE_URL/api/v1/screenshots" -H "Authorization: Bearer $TINTYPE_API_KEY" -H 'Content-Type: application/json' \\
    -H 'Accept: image/*' -d '{"url": "${firstPage}", "options": {"full_page": true}}' -o shot.png
  kubectl get screenshots -n ${releaseNamespace}          # all captures; also: describe, -o wide, -w
  kubectl explain screenshot.spec.options     # every option with its range and default
  npm test                                    # all tests, on this cluster
  npm stop                                    # stops the cluster and keeps its data`
}

await runCommand(main)
