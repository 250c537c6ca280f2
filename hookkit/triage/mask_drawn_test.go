package triage

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestMaskHidesDrawnTokens: what secrets.token_urlsafe and its like make is never shown whole, and hardly ever in part.
func TestMaskHidesDrawnTokens(t *testing.T) {
	t.Parallel()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	random := rand.New(rand.NewPCG(1, 2))
	const tokens, piece = 2000, 6
	inPart := 0
	for i := range tokens {
		token := make([]byte, []int{24, 32, 43}[i%3])
		for j := range token {
			token[j] = letters[random.IntN(len(letters))]
		}
		got := mask("We decided to use Postgres instead of MySQL with " + string(token) + " for the store.")
		assert.Check(t, !strings.Contains(got, string(token)), got)
		assert.Check(t, strings.HasPrefix(got, "We decided to use Postgres instead of MySQL with ") && strings.HasSuffix(got, " for the store."), got)
		for j := range len(token) - piece + 1 {
			if strings.Contains(got, string(token[j:j+piece])) {
				inPart++
				t.Logf("in part: %s: %s", token, got)
				break
			}
		}
	}
	assert.Assert(t, inPart <= tokens/100, "%d of %d are shown in part", inPart, tokens)
}

// TestMaskLeavesNames: names that people give are read as they are written.
func TestMaskLeavesNames(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(`
		a-very-long-name-of-a-branch-with-words-only feature/PROJ-1234-add-login-to-the-admin-page release/2024-06-order-history
		dependabot/npm_and_yarn/webpack-dev-server-4.15.1 fix/JIRA-4711-NullPointer-in-OrderService bugfix/OPS-99-retry-S3-uploads
		order-service-7d9f8b6c5d-x2x4z kube-prometheus-stack-grafana-0 ip-10-0-12-34.eu-central-1.compute.internal k8s-1-28-3-do-0-nyc1-worker-pool
		order_items_by_customer_id create_index_concurrently_on_orders max_connections_per_host 20240611_create_shipments_v2_table
		migrate_2024_06_orders_v2_backfill db_connection_pool_size_max_2024 test_returns_404_for_unknown_order_2 CONNECTION_POOL_SIZE_MAX
		SPRING_PROFILES_ACTIVE NEXT_PUBLIC_FEATURE_FLAGS_URL_V2 X_FORWARDED_FOR_HEADER_NAME
		AbstractSingletonProxyFactoryBean AbstractAnnotationConfigDispatcherServletInitializer XMLHttpRequestEventTarget getHTTPSURLForS3BucketInEUWest1
		OrderServiceIntegrationTestWithPostgres16 PKCS12KeyStoreWithRSAKeys CreateOrUpdateUserProfileRequestV2Dto OAuth2AuthorizationCodeGrantFilter
		TestCreateOrderReturns201AndLocation TestHTTP2ServerPushPromise2024 useInfiniteScrollWithIntersectionObserver handleSubmitButtonClickedOnce
		BestellungsVerwaltungsDienst UserAccountRepositoryImplTest NSURLSessionConfigurationDidFinish kCFStreamPropertySSLPeerTrust
		Base64UrlSafeEncoderWithoutPadding SHA256WithRSAEncryptionParams Windows11ProForWorkstations
		TestHandlesOrders20240611Migration01 X-Content-Type-Options-Header Content-Security-Policy-Report-Only Sec-WebSocket-Extensions
		src/main/java/com/example/orders/OrderRepositoryImpl.java internal/checkout/handlers/order_lines.go packages/web-app/src/components/OrderHistoryTable.tsx
		apps/api/src/modules/auth/strategies/JwtRefreshTokenStrategy.spec.ts /usr/local/lib/python3.12/site-packages/django/db/models/query.py
		~/Library/Application-Support/Code/User/globalStorage db/migrate/20240411091200_order_state_to_string.rb docs/adr/0007-use-postgres-instead-of-mysql.md
		@types/react-dom @testing-library/react-hooks @aws-sdk/client-secrets-manager org.springframework.boot:spring-boot-starter-data-jpa:3.2.5
		github.com/hashicorp/terraform-plugin-sdk/v2 golang.org/x/tools/gopls@v0.16.0 com.fasterxml.jackson.datatype:jackson-datatype-jsr310
		v2.0.0-rc.1+build.20240101 1.2.3-SNAPSHOT 7.2.4-alpine3.19 python3.12-slim-bookworm postgres:16.3-bookworm 2024.06.11-1
		v0.0.0-20240611101112-0a1b2c3d4e5f e647f8b 0a1b2c3d4e5f 550e8400-e29b-41d4-a716-446655440000
		arn:aws:s3:::order-exports-eu-central-1 projects/my-project/locations/europe-west3/clusters/prod-cluster-1 i-0abcd1234ef567890
		gpt-4o-mini-2024-07-18 claude-3-5-sonnet-20241022 Llama-3.1-70B-Instruct-AWQ-INT4 Qwen2.5-Coder-32B-Instruct-GGUF
		TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 en-US-u-ca-gregory-hc-h23 Europe/Berlin glrt-manager pscale_pw_test
	`) {
		text := "We decided to use " + name + " for the store."
		assert.Check(t, mask(text) == text, "%q became %q", name, mask(text))
	}
}
