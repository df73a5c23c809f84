/** Labels of what the operator makes for a release, so that `kubectl get secrets -l app.kubernetes.io/instance=…` finds it. */
export const releaseLabels = (release: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'tintype',
  'app.kubernetes.io/instance': release,
  'app.kubernetes.io/managed-by': 'tintype-operator',
})
