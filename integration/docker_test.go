//go:build docker && unix

package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

var dockerKinds = []replKind{{name: "docker", shared: dockerREPL, fresh: freshDockerREPL}}

// The port that the image's server listens on, as scripts/repl-image has it.
const dockerNREPLPort = "7888/tcp"

// A container ends by itself after this many seconds, whatever became of the test.
const dockerExpiry = 600

var dockerREPL, freshDockerREPL = realREPL(needDockerImage, startDocker)

func needDockerImage(t *testing.T) {
	t.Helper()
	fullRun(t)
	if err := dockerImage(); err != nil {
		skipOrFail(t, "no nREPL in docker: %v", err)
	}
}

// dockerImage makes the image if it is missing, which takes a minute and is said aloud.
var dockerImage = sync.OnceValue(func() error {
	if _, err := dockerClient(); err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), "../scripts/repl-image")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("scripts/repl-image: %w", err)
	}
	return nil
})

// dockerClient speaks the engine's own version of the API. Engines from 29 on refuse what is older than 1.44, and the
// client library was not made for what is newer.
func dockerClient() (*docker.Client, error) {
	client, err := docker.NewClientFromEnv()
	if err != nil {
		return nil, err
	}
	server, err := client.Version()
	if err != nil {
		return nil, err
	}
	newest := docker.APIVersion{1, 44}
	version, err := docker.NewAPIVersion(server.Get("ApiVersion"))
	if err != nil {
		return nil, err
	}
	if version.GreaterThanOrEqualTo(newest) {
		version = newest
	}
	return docker.NewVersionedClientFromEnv(version.String())
}

func startDocker() (*replServer, error) {
	client, err := dockerClient()
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(context.Background(), "../scripts/repl-image", "--tag").Output()
	if err != nil {
		return nil, fmt.Errorf("scripts/repl-image --tag: %w", err)
	}
	repository, tag, _ := strings.Cut(strings.TrimSpace(string(out)), ":")

	pool := &dockertest.Pool{Client: client}
	container, err := pool.RunWithOptions(&dockertest.RunOptions{
		Repository: repository,
		Tag:        tag,
		Labels:     map[string]string{"brepl-test": "nrepl"},
		PortBindings: map[docker.Port][]docker.PortBinding{
			dockerNREPLPort: {{HostIP: "127.0.0.1", HostPort: "0"}},
		},
	}, func(host *docker.HostConfig) { host.AutoRemove = true })
	if err != nil {
		return nil, err
	}
	kill := sync.OnceFunc(func() { _ = pool.Purge(container) }) // it may have ended by itself
	server, err := runningContainer(container, kill)
	if err != nil {
		kill()
	}
	return server, err
}

func runningContainer(container *dockertest.Resource, kill func()) (*replServer, error) {
	if err := container.Expire(dockerExpiry); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(container.GetHostPort(dockerNREPLPort))
	if err != nil {
		return nil, errors.New("the container published no port")
	}
	server := &replServer{Host: host, Kill: kill}
	if server.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	return server, server.ready(replStartLimit)
}
