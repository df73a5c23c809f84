/**
 * `npm start`: from a bare machine to a captured page. Brings the cluster up, builds and loads images, installs the chart, waits, captures.
 * With TINTYPE_CLUSTER=current only the chart is installed, on the cluster of the current kubectl context, with images pushed before.
 */
import { type Access, captureFirst, writeEnvironment } from './first-capture.ts'
import type { ClusterFacts } from './ground.ts'
import { type ImageTags, imageSteps } from './images.ts'
import { withLock } from './lock.ts'
import { ensurePortForward } from './port-forward.ts'
import { awaitRollout, ensureNamespaces, ensureRelease } from './release.ts'
import { choices, environmentFile, firstPage, network, paths, releaseNamespace } from './state.ts'
import { formatDuration, formatFailure, runSteps, type Step, StepError } from './steps.ts'
import { clusterSteps } from './up.ts'

async function main(): Promise<void> {
  const start = performance.now()
  let access: Access | undefined
  await withLock(
    paths.lock,
    async () => {
      const facts: ClusterFacts = { hasWayOut: false }
      const { steps, tags } = choices.cluster === 'current' ? currentSteps() : await embeddedSteps(facts)
      const capture: Step = {
        name: 'First screenshot',
        run: async () => {
          access = await writeEnvironment(`http://127.0.0.1:${network.hostGatewayPort}`)
          return captureFirst(access, firstPage)
        },
      }
      await runSteps([...steps, ...releaseSteps(tags, facts), capture])
    },
    tellHolder,
  )
  process.stdout.write(`\n${describeNext(access!, performance.now() - start)}\n`)
}

async function embeddedSteps(facts: ClusterFacts): Promise<{ steps: Step[]; tags: ImageTags }> {
  const { steps, tags } = await imageSteps(true)
  return { steps: [...clusterSteps(facts), ...steps], tags }
}

/** Nothing is built: another cluster pulls what was pushed to a registry that it reaches. */
function currentSteps(): { steps: Step[]; tags: ImageTags } {
  const check: Step = {
    name: 'Current kubectl context',
    run: async () => {
      if (choices.registry !== undefined) return `images from ${choices.registry}`
      throw new StepError('the cluster must know where the images are', {
        remedy: 'npm run images -- --push REGISTRY, then TINTYPE_REGISTRY=REGISTRY TINTYPE_CLUSTER=current npm start',
      })
    },
  }
  return { steps: [check], tags: new Map() }
}

function releaseSteps(tags: ImageTags, facts: ClusterFacts): Step[] {
  const forward: Step = { name: 'Way in', run: ensurePortForward }
  return [
    { name: 'Namespaces', run: () => ensureNamespaces(tags) },
    { name: 'Tintype', run: () => ensureRelease(tags, facts) },
    { name: 'Rollout', run: awaitRollout },
    ...(choices.cluster === 'current' ? [forward] : []),
  ]
}

function describeNext({ url }: Access, milliseconds: number): string {
  return `Ready in ${formatDuration(milliseconds)}. The API is at ${url}, its key in .tintype/env. Next:

  . ${environmentFile} && export KUBECONFIG
  curl -sS "$TINTYPE_URL/api/v1/screenshots" -H "Authorization: Bearer $TINTYPE_API_KEY" -H 'Content-Type: application/json' \\
    -H 'Accept: image/*' -d '{"url": "${firstPage}"}' -o shot.png
  kubectl get screenshots -n ${releaseNamespace}          # what was captured, and how
  kubectl describe screenshots -n ${releaseNamespace}
  kubectl explain screenshot.spec.options     # every option with its range
  npm test                                    # all tests, on this cluster
  npm stop                                    # takes the cluster down`
}

const tellHolder = (pid: number): void => void process.stdout.write(`Another run (process ${pid}) is at work: waiting for its end.\n`)

await main().catch((error: unknown) => {
  process.stderr.write(`\n${formatFailure(error)}\n`)
  process.exitCode = 1
})
